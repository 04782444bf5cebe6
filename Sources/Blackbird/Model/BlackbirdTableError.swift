/// What is wrong with a model's table.
public enum BlackbirdTableError: Error, Sendable, Hashable {
  /// The type cannot have a table: no primary key, one column indexed twice alike, a wrapper without a name.
  case invalidModel(type: String, description: String)
  /// The table cannot be altered to fit the type without losing data; it is as it was.
  case impossibleMigration(type: String, description: String)
  /// Another program has altered the table so that this one's type does not fit it any more.
  ///
  /// Nothing was altered back, and nothing was written. A newer version of this program is needed.
  case schemaChangedByAnother(type: String, description: String)
  /// The database is open for reading only, and the table is missing or does not fit.
  case readOnlyDatabase(type: String, description: String)
  /// The database was opened with `requireModelSchemaValidationBeforeUse`, and the type was used before its
  /// `resolveSchema(in:)`.
  case notResolved(type: String)
  /// The key path does not lead to a column of the type.
  case notAColumn(type: String, keyPath: String)
}

extension BlackbirdTableError: CustomStringConvertible {
  /// What happened, to which table, and what to do.
  public var description: String {
    switch self {
    case .invalidModel(let type, let description):
      "\(type) cannot be a model: \(description)"
    case .impossibleMigration(let type, let description):
      "the table of \(type) was not altered: \(description)"
    case .schemaChangedByAnother(let type, let description):
      "another program has altered the table of \(type): \(description); update this program"
    case .readOnlyDatabase(let type, let description):
      "the table of \(type) cannot be used: \(description), and the database is open for reading only"
    case .notResolved(let type):
      "\(type) is used before resolveSchema(in:), which this database was opened to require"
    case .notAColumn(let type, let keyPath):
      "\(keyPath) is no column of \(type); columns are written \\.$name"
    }
  }
}
