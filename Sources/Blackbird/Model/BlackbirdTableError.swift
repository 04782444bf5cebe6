public import Foundation

/// What is wrong with a model's table.
public enum BlackbirdTableError: Error, Sendable, Hashable {
  /// The type cannot have a table: no primary key, one column indexed twice alike, a wrapper without a name.
  case invalidModel(type: String, description: String)
  /// The table cannot be altered to fit the type without losing data; it is as it was.
  case impossibleMigration(type: String, table: String, description: String)
  /// The table was altered for another shape of the type, and this one does not fit it any more.
  ///
  /// It may have been another program, another version of this one, or this one itself. Nothing was altered
  /// back, and nothing was written. Use the newer type, or go back on purpose with
  /// ``BlackbirdModel/resolveSchema(in:goingBack:)``.
  case schemaChangedByAnother(type: String, table: String, description: String)
  /// The database is open for reading only, and the table is missing or does not fit.
  case readOnlyDatabase(type: String, table: String, description: String)
  /// The database was opened with `requireModelSchemaValidationBeforeUse`, and the type was used before its
  /// `resolveSchema(in:)`.
  case notResolved(type: String)
  /// The key path does not lead to a column of the type.
  case notAColumn(type: String, keyPath: String)
}

extension BlackbirdTableError: CustomStringConvertible, LocalizedError {
  /// The same text as ``description``.
  public var errorDescription: String? { description }

  /// What happened, to which table, and what to do.
  public var description: String {
    switch self {
    case .invalidModel(let type, let description):
      "\(type) cannot be a model: \(description)"
    case .impossibleMigration(let type, let table, let description):
      "the table \(table) of \(type) was not altered: \(description)"
    case .schemaChangedByAnother(let type, let table, let description):
      "a program (perhaps an earlier or later version of this one) has altered the table \(table) of "
        + "\(type): \(description); use the newer version of \(type), or go back to this one on purpose "
        + "with \(type).resolveSchema(in: database, goingBack: true)"
    case .readOnlyDatabase(let type, let table, let description):
      "the table \(table) of \(type) cannot be used: \(description), and the database is open for "
        + "reading only"
    case .notResolved(let type):
      "\(type) is used before resolveSchema(in:), which this database was opened to require"
    case .notAColumn(let type, let keyPath):
      "\(keyPath) is no column of \(type); columns are written \\.$name"
    }
  }
}
