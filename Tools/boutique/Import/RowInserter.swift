import BoutiqueDB
import CommandLineSupport
import Foundation

/// Inserts rows into a table inside one transaction; errors of a row say where it stands.
struct RowInserter {
  private let table: TargetTable
  private let connection: BoutiqueConnection
  private var columns: [String] = []
  private var statement: PreparedQuery?

  init(table: TargetTable, on connection: BoutiqueConnection) {
    self.table = table
    self.connection = connection
  }

  mutating func insert(_ row: ImportRow) throws {
    let statement = try statement(for: row)
    do {
      try statement.run(arguments: row.values.map { $0 })
    } catch BoutiqueError.sql(let code, let message) where Self.isFaultOfRow(code) {
      throw malformed(row, message)
    }
  }

  /// The rows of a delimited file all have the same columns, so this is nearly always the last one.
  private mutating func statement(for row: ImportRow) throws -> PreparedQuery {
    if let statement, columns == row.columns { return statement }
    for (index, name) in row.columns.enumerated() {
      if let complaint = table.complaint(about: name) { throw row.malformed(index, complaint) }
    }
    let statement = try connection.prepare(table.insertion(of: row.columns))
    self.statement = statement
    columns = row.columns
    return statement
  }

  /// SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH, with all their extended codes: another row
  /// would have been inserted.
  private static func isFaultOfRow(_ code: Int) -> Bool { [18, 19, 20].contains(code & 0xFF) }

  /// SQLite names the column that breaks a constraint as `table.column`; that is where to point.
  private func malformed(_ row: ImportRow, _ message: String) -> MalformedInput {
    var reason = message
    // The statement is ours and tells the user nothing.
    if let statement, let range = reason.range(of: " (in: \(statement.sql))") {
      reason.removeSubrange(range)
    }
    let named = row.columns.indices.filter { reason.hasSuffix("\(table.name).\(row.columns[$0])") }
    if let index = named.first { return row.malformed(index, reason) }
    return MalformedInput(line: row.line, column: 1, reason: .other(reason))
  }
}
