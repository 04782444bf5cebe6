/// What was done so that a database has the table of a model.
public struct BlackbirdModelSchemaResolution: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: Int
  /// Creates a set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The table was made.
  public static let createdTable = Self(rawValue: 1)
  /// The table was altered.
  public static let migratedTable = Self(rawValue: 2)
  /// The full-text index was made, altered or dropped.
  public static let migratedFullTextIndex = Self(rawValue: 4)
}

extension BlackbirdModelSchemaResolution: CustomStringConvertible {
  /// The names of what was done: `[createdTable, migratedFullTextIndex]`.
  public var description: String {
    let names: [(Self, String)] = [
      (.createdTable, "createdTable"), (.migratedTable, "migratedTable"),
      (.migratedFullTextIndex, "migratedFullTextIndex"),
    ]
    return "[\(names.filter { contains($0.0) }.map(\.1).joined(separator: ", "))]"
  }
}
