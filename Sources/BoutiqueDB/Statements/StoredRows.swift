import FaultPoints
import SQLiteConnection
package import StructuredQueries

// What the other interfaces run: statements whose values are already as they are stored, and rows that are decoded
// where SQLite has them. Nothing is converted, boxed or copied between.

/// The text of a statement that is run again and again.
package struct RepeatedSQL: Sendable {
  /// The text, with `?` for each value.
  package let text: String
  /// What a connection finds the prepared statement by, without a look at the text.
  let number: Int

  /// Makes a text known; each call takes a number that is never given again.
  package init(_ text: String) {
    self.text = text
    number = SQLTemplate(text).number
  }

  /// A text that is made for one use.
  package init(once text: String) {
    self.text = text
    number = 0
  }
}

extension BoutiqueConnection {
  /// Runs a statement to its end; rows that it yields are passed over.
  ///
  /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed; 0 for others.
  @discardableResult
  package func run(_ sql: RepeatedSQL, values: UnsafeBufferPointer<SQLValue>) throws -> Int {
    #if FAULT_POINTS
      if Sabotage.noLease.isOn { return try executeDespiteConflict(sql.text, Array(values)) }
    #endif
    let before = sqlite.totalChanges
    let statement = try bound(sql, values)
    defer { statement.reset() }
    while try step(statement) {}
    guard sqlite.totalChanges != before else { return 0 }
    return Int(sqlite.changes)
  }

  /// Runs a statement to its end, with texts where they lie.
  ///
  /// - Parameters:
  ///   - count: how many values there are.
  ///   - text: returns the UTF-8 of a value by its place from 0; nil for NULL.
  package func run(
    _ sql: RepeatedSQL, count: Int, text: (_ index: Int) -> UnsafeRawBufferPointer?
  ) throws {
    let statement = try bound(sql, count: count) { index, parameters in
      if let bytes = text(index) {
        parameters.append(utf8: bytes)
      } else {
        parameters.append(.null)
      }
    }
    defer { statement.reset() }
    while try step(statement) {}
  }

  /// Calls `body` with each row, as it lies in memory: the number of columns, then for each column three words,
  /// SQLite's number of the storage class, the bits or the address of the bytes, their number.
  ///
  /// What `body` is given is valid during its call only. An error that it throws ends the reading.
  package func readRows(
    _ sql: RepeatedSQL, values: UnsafeBufferPointer<SQLValue>,
    _ body: (UnsafePointer<UInt64>) throws -> Void
  ) throws {
    let statement = try bound(sql, values)
    // It must not stay busy on any way out: it would keep its snapshot.
    defer { statement.reset() }
    while try step(statement) {
      guard let words = statement.readRow() else { return }
      try body(words)
    }
  }

  private func step(_ statement: PreparedStatement) throws -> Bool {
    do {
      return try statement.step()
    } catch {
      throw failure(error)
    }
  }

  private func bound(
    _ sql: RepeatedSQL, _ values: UnsafeBufferPointer<SQLValue>
  ) throws -> PreparedStatement {
    let statement = try bound(sql, count: values.count) { $1.append(values[$0]) }
    if recordsValues { willRun(statement, values: Array(values)) }
    return statement
  }

  private func bound(
    _ sql: RepeatedSQL, count: Int, _ append: (Int, inout ParameterWriter) -> Void
  ) throws -> PreparedStatement {
    let statement = try statement(sql.text, number: sql.number)
    do {
      guard count == statement.parameterCount else {
        throw BoutiqueError.argumentCount(count, statement)
      }
      var parameters = ParameterWriter(statement, values: count)
      for index in 0..<count { append(index, &parameters) }
      try parameters.bind()
    } catch {
      statement.reset()
      throw failure(error)
    }
    return statement
  }
}

extension BoutiqueError {
  /// Too many or too few values for a statement's parameters.
  static func argumentCount(_ given: Int, _ statement: PreparedStatement) -> BoutiqueError {
    .invalidStatement(
      sql: statement.sql,
      reason: "\(statement.parameterCount) argument\(statement.parameterCount == 1 ? "" : "s") "
        + "expected, \(given) given")
  }
}
