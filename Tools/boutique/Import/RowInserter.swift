import BoutiqueDB
import CommandLineSupport
import Foundation

/// Inserts rows into a table inside one transaction; errors of a row say where it stands.
struct RowInserter {
  private let table: TargetTable
  private let connection: BoutiqueConnection
  private var columns: [String] = []
  private var statement: RepeatedSQL?

  init(table: TargetTable, on connection: BoutiqueConnection) {
    self.table = table
    self.connection = connection
  }

  mutating func insert(_ row: ImportRow) throws {
    let sql = try statement(for: row.columns) { row }
    do {
      try row.values.withUnsafeBufferPointer { _ = try connection.run(sql, values: $0) }
    } catch BoutiqueError.sql(let code, let message) where Self.isFaultOfRow(code) {
      throw malformed(row, message)
    }
  }

  /// Inserts the fields of a record.
  ///
  /// - Parameter row: makes a row of them, for what is to be said about it.
  mutating func insert(
    _ fields: DelimitedFields, isNull: (DelimitedFields, Int) -> Bool, _ columns: [String],
    row: () throws -> ImportRow
  ) throws {
    let sql = try statement(for: columns, row)
    do {
      try connection.run(sql, count: fields.count) { index in
        isNull(fields, index) ? nil : fields[index]
      }
    } catch BoutiqueError.sql(let code, let message) where Self.isFaultOfRow(code) {
      throw malformed(try row(), message)
    }
  }

  /// The rows of a delimited file all have the same columns, so this is nearly always the last one.
  private mutating func statement(
    for names: [String], _ row: () throws -> ImportRow
  ) throws -> RepeatedSQL {
    if let statement, columns == names { return statement }
    for (index, name) in names.enumerated() {
      if let complaint = table.complaint(about: name) {
        throw try row().malformed(index, complaint)
      }
    }
    let statement = RepeatedSQL(table.insertion(of: names))
    self.statement = statement
    columns = names
    return statement
  }

  /// SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH, with all their extended codes: another row
  /// would have been inserted.
  private static func isFaultOfRow(_ code: Int) -> Bool { [18, 19, 20].contains(code & 0xFF) }

  /// SQLite names the column that breaks a constraint as `table.column`; that is where to point.
  private func malformed(_ row: ImportRow, _ message: String) -> MalformedInput {
    var reason = message
    // The statement is ours and tells the user nothing.
    if let statement, let range = reason.range(of: " (in: \(statement.text))") {
      reason.removeSubrange(range)
    }
    let named = row.columns.indices.filter { reason.hasSuffix("\(table.name).\(row.columns[$0])") }
    if let index = named.first { return row.malformed(index, reason) }
    return MalformedInput(line: row.line, column: 1, reason: .other(reason))
  }
}
