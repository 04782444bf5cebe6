internal import CSQLite

/// Somebody who is told of each row just before it changes.
package protocol PreupdateObserver: AnyObject {
  /// Called inside the statement that changes the row; it must not run SQL on the connection.
  func willChange(_ change: borrowing PreupdateChange)
  /// Called before a statement that may write is run.
  ///
  /// - Returns: a mark that is handed back if the statement fails.
  func statementWillBegin() -> StatementMark
  /// Called when such a statement has failed and the transaction goes on.
  func statementDidFail(_ failure: StatementFailure)
}

extension PreupdateObserver {
  /// Marks nothing.
  package func statementWillBegin() -> StatementMark { StatementMark(0, 0, 0) }
  /// Ignores the failure.
  package func statementDidFail(_ failure: StatementFailure) {}
}

/// Where an observer stood when a statement began; the numbers are the observer's.
package struct StatementMark: Sendable {
  /// The observer's first number.
  package var first: Int
  /// The observer's second number.
  package var second: Int
  /// The observer's third number.
  package var third: Int

  /// Makes a mark of three numbers.
  package init(_ first: Int, _ second: Int, _ third: Int) {
    self.first = first
    self.second = second
    self.third = third
  }
}

/// A statement that failed inside a transaction that goes on.
package struct StatementFailure {
  /// Where the observer stood when it began.
  package var mark: StatementMark
  /// Whether what it changed before it failed is certainly still there (`OR FAIL`).
  ///
  /// SQLite counts the rows of a failed statement only when they stay. Rows that only its triggers changed
  /// are not counted.
  package var keepsRows: Bool
  /// Its text.
  package var sql: String
}

/// One row that is about to change; valid only during the call that hands it over.
///
/// Rows displaced by REPLACE come as deletions, and `DELETE` without `WHERE` comes row by row.
/// Rows of tables WITHOUT ROWID have row id zero: take their key from the columns. Virtual tables
/// do not come; their shadow tables do.
package struct PreupdateChange: ~Copyable {
  /// What happens to the row.
  package enum Kind: Sendable {
    /// A new row.
    case insert
    /// New content of a row, perhaps with another row id.
    case update
    /// The end of a row.
    case delete
  }

  /// What happens to the row.
  package let kind: Kind
  /// The name of the database as a C string.
  package let databaseNamePointer: UnsafePointer<CChar>
  /// The name of the table as a C string; the same address comes again for the same table until
  /// the schema changes.
  package let tableNamePointer: UnsafePointer<CChar>
  /// The row id before; of no meaning for an insertion.
  package let oldRowID: Int64
  /// The row id afterwards; of no meaning for a deletion.
  package let newRowID: Int64

  private let database: OpaquePointer

  init(
    database: OpaquePointer, operation: Int32, databaseNamePointer: UnsafePointer<CChar>,
    tableNamePointer: UnsafePointer<CChar>, oldRowID: Int64, newRowID: Int64
  ) {
    self.database = database
    self.databaseNamePointer = databaseNamePointer
    self.tableNamePointer = tableNamePointer
    self.oldRowID = oldRowID
    self.newRowID = newRowID
    kind =
      switch operation {
      case SQLITE_INSERT: .insert
      case SQLITE_DELETE: .delete
      default: .update
      }
  }

  /// The name of the database: `main`, `temp`, or an attached one.
  package var databaseName: String { String(cString: databaseNamePointer) }

  /// The name of the table.
  package var tableName: String { String(cString: tableNamePointer) }

  /// Whether the table is one of the main database.
  package var isInMainDatabase: Bool {
    sqlite3_stricmp(databaseNamePointer, "main") == 0
  }

  /// How many columns the row has.
  package var columnCount: Int { Int(sqlite3_preupdate_count(database)) }

  /// Zero for a statement's own change, one for a trigger's or foreign key action's, and so on.
  package var depth: Int { Int(sqlite3_preupdate_depth(database)) }

  /// Returns a column before the change; NULL for an insertion.
  package func oldValue(_ column: Int) -> SQLiteValue {
    guard kind != .insert else { return .null }
    return SQLiteValue(raw(old: column))
  }

  /// Returns a column after the change; NULL for a deletion.
  ///
  /// A whole number inserted into a REAL column comes as the integer that SQLite stores.
  package func newValue(_ column: Int) -> SQLiteValue {
    guard kind != .delete else { return .null }
    return SQLiteValue(raw(new: column))
  }

  /// Returns whether an update gives a column another type or other bytes.
  ///
  /// True for insertions and deletions, and where SQLite cannot tell.
  package func columnDiffers(_ column: Int) -> Bool {
    guard kind == .update, let old = raw(old: column), let new = raw(new: column) else {
      return true
    }
    return boutique_sqlite_values_equal(old, new) == 0
  }

  func raw(old column: Int) -> OpaquePointer? {
    var value: OpaquePointer?
    let code = sqlite3_preupdate_old(database, Int32(clamping: column), &value)
    return code == SQLITE_OK ? value : nil
  }

  func raw(new column: Int) -> OpaquePointer? {
    var value: OpaquePointer?
    let code = sqlite3_preupdate_new(database, Int32(clamping: column), &value)
    return code == SQLITE_OK ? value : nil
  }
}
