/// A value in one of SQLite's five storage classes.
///
/// Texts are equal when their bytes are, as in SQLite: é as one character and as two are two texts.
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
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

extension SQLValue {
  /// Whether both are of one storage class and have the same value: texts and blobs the same bytes.
  public static func == (a: SQLValue, b: SQLValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  /// Feeds the storage class and the value.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value):
      hasher.combine(1)
      hasher.combine(value)
    case .real(let value):
      hasher.combine(2)
      hasher.combine(value)
    case .text(let value):
      hasher.combine(3)
      value.hashBytes(into: &hasher)
    case .blob(let bytes):
      hasher.combine(4)
      hasher.combine(bytes)
    }
  }
}

extension String {
  /// Whether both have the same bytes.
  fileprivate func hasSameBytes(as other: String) -> Bool {
    let areEqual = utf8.withContiguousStorageIfAvailable { a in
      other.utf8.withContiguousStorageIfAvailable { b in
        a.count == b.count && a.elementsEqual(b)
      }
    }
    return (areEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Feeds the bytes.
  fileprivate func hashBytes(into hasher: inout Hasher) {
    let isFed: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    // Bridged strings only; the bytes fed must be the same.
    if isFed == nil { Array(utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
  }
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
