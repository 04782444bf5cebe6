/// A value in one of SQLite's five storage classes.
///
/// Source of the classes: SQLite, "Datatypes In SQLite", section 2.
public enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// The name SQLite gives to the value's storage class, in lower case.
  public var typeName: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }

  /// Whether the value is NULL.
  public var isNull: Bool { self == .null }
}

extension SQLValue: CustomStringConvertible {
  /// The value as an SQL literal would show it, long values shortened; for messages, never for SQL.
  public var description: String {
    switch self {
    case .null: return "NULL"
    case .integer(let value): return String(value)
    case .real(let value): return String(value)
    case .text(let value):
      let shown = value.count > 60 ? String(value.prefix(57)) + "…" : value
      return "'"
        + shown.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "''") + "'"
    case .blob(let bytes): return "blob of \(bytes.count) bytes"
    }
  }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
  /// Creates an integer value.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a real value.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// Creates a text value.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Creates 1 for true and 0 for false, as SQLite has no Boolean class.
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
