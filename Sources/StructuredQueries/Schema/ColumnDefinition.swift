/// One column of a table as `CREATE TABLE` sees it, or a group of columns.
public struct ColumnDefinition: Sendable {
  /// The name in SQL.
  public let name: String
  /// How the column's values are kept.
  public let storage: ColumnStorage
  let isPrimaryKey: Bool
  let isUnique: Bool
  let isIndexed: Bool
  let check: String?
  let defaultValue: ColumnDefault?
  let collation: Collation?
  let reference: ForeignKey?
  let generated: GeneratedStorage?
  let expression: String?

  /// Creates a description of a stored column.
  ///
  /// - Parameters:
  ///   - check: a condition in SQL that every row must meet.
  ///   - default: the value of a row that is inserted without one.
  public init<Value: QueryRow>(
    _ name: String, _ type: Value.Type, primaryKey: Bool = false, unique: Bool = false,
    indexed: Bool = false, check: String? = nil, default defaultValue: ColumnDefault? = nil,
    collate collation: Collation? = nil, references reference: ForeignKey? = nil
  ) {
    self.init(
      name: name, storage: Value.columnStorage, isPrimaryKey: primaryKey, isUnique: unique,
      isIndexed: indexed, check: check, defaultValue: defaultValue, collation: collation,
      reference: reference, generated: nil, expression: nil)
  }

  /// Creates a description of a column that SQLite computes.
  ///
  /// - Parameter expression: SQL over other columns of the row.
  public init<Value: QueryRow>(
    _ name: String, _ type: Value.Type, generated: GeneratedStorage, as expression: String,
    unique: Bool = false, indexed: Bool = false, check: String? = nil
  ) {
    self.init(
      name: name, storage: Value.columnStorage, isPrimaryKey: false, isUnique: unique,
      isIndexed: indexed, check: check, defaultValue: nil, collation: nil, reference: nil,
      generated: generated, expression: expression)
  }

  /// Creates a description of the columns of a nested struct.
  public static func group<Group: Table>(_ type: Group.Type) -> ColumnDefinition {
    ColumnDefinition("", type)
  }

  private init(
    name: String, storage: ColumnStorage, isPrimaryKey: Bool, isUnique: Bool, isIndexed: Bool,
    check: String?, defaultValue: ColumnDefault?, collation: Collation?, reference: ForeignKey?,
    generated: GeneratedStorage?, expression: String?
  ) {
    self.name = name
    self.storage = storage
    self.isPrimaryKey = isPrimaryKey
    self.isUnique = isUnique
    self.isIndexed = isIndexed
    self.check = check
    self.defaultValue = defaultValue
    self.collation = collation
    self.reference = reference
    self.generated = generated
    self.expression = expression
  }

  /// The columns this stands for: itself, or those of the group.
  var flattened: [ColumnDefinition] {
    if case .group(let columns) = storage { columns } else { [self] }
  }

  /// The same column with NULL allowed, for an optional group.
  var nullable: ColumnDefinition {
    guard case .column(let type, _) = storage else { return self }
    return ColumnDefinition(
      name: name, storage: .column(type, isNullable: true), isPrimaryKey: false,
      isUnique: isUnique, isIndexed: isIndexed, check: check, defaultValue: defaultValue,
      collation: collation, reference: reference, generated: generated, expression: expression)
  }
}

/// How SQLite keeps a generated column.
public enum GeneratedStorage: String, Sendable {
  /// Computed when read.
  case virtual = "VIRTUAL"
  /// Computed when the row is written.
  case stored = "STORED"
}

/// The value of a column in a row that is inserted without one.
public struct ColumnDefault: Hashable, Sendable {
  let sql: String

  /// Returns a default that SQL computes, as `CURRENT_TIMESTAMP` or `(uuid())`.
  public static func sql(_ expression: String) -> ColumnDefault {
    ColumnDefault(sql: "(\(expression))")
  }
}

extension ColumnDefault: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral
{
  /// Creates 1 or 0.
  public init(booleanLiteral value: Bool) { sql = value ? "1" : "0" }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { sql = String(value) }
  /// Creates a number.
  public init(floatLiteral value: Double) { sql = String(value) }
  /// Creates a text.
  public init(stringLiteral value: String) { sql = quoted(text: value) }
  /// Creates NULL.
  public init(nilLiteral: ()) { sql = "NULL" }
}

/// An order of texts.
public struct Collation: Hashable, Sendable {
  /// The name in SQL.
  public let name: String
  /// Creates a collation by the name under which it is registered.
  public init(_ name: String) { self.name = name }
  /// By bytes.
  public static let binary = Collation("BINARY")
  /// By bytes, the 26 letters of ASCII in either case being equal.
  public static let nocase = Collation("NOCASE")
  /// By bytes, spaces at the end ignored.
  public static let rtrim = Collation("RTRIM")
}
