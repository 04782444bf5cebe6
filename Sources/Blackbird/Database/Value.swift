import BoutiqueDB
public import Foundation

extension Blackbird {
  /// A value that SQLite stores.
  ///
  /// Texts are equal when their bytes are, as in SQLite: é as one character and as two are two keys.
  public enum Value: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER.
    case integer(Int64)
    /// DOUBLE.
    case double(Double)
    /// TEXT.
    case text(String)
    /// BLOB.
    case data(Data)

    /// Why a Swift value is no value of a database.
    public enum Error: Swift.Error, Sendable {
      /// Its type has no form in SQLite, or not one that holds every value exactly.
      case cannotConvertToValue
    }
  }
}

extension Blackbird.Value {
  /// Whether both are of one kind and have the same value: texts and data the same bytes.
  public static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.text(let a), .text(let b)): SQLValue.text(a) == .text(b)
    case (.data(let a), .data(let b)): a == b
    default: false
    }
  }

  /// Feeds the kind and the value.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value):
      hasher.combine(1)
      hasher.combine(value)
    case .double(let value):
      hasher.combine(2)
      hasher.combine(value)
    case .text(let value): SQLValue.text(value).hash(into: &hasher)
    case .data(let value):
      hasher.combine(4)
      hasher.combine(value)
    }
  }
}

extension Blackbird.Value: ExpressibleByStringLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral
{
  /// Creates TEXT.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Creates DOUBLE.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Creates INTEGER.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates 1 for true and 0 for false.
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
  /// Creates NULL.
  public init(nilLiteral: ()) { self = .null }
}

extension Blackbird.Value: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as an SQL literal would show it, long values shortened; for messages, never for SQL.
  public var description: String { sqlValue.description }
  /// The same.
  public var debugDescription: String { description }
}

extension Blackbird.Value {
  /// Whether the number is not zero; nil for NULL and for data that is no number.
  ///
  /// Text that is no whole number is false.
  public var boolValue: Bool? {
    switch self {
    case .null: nil
    case .integer(let value): value != 0
    case .double(let value): value != 0
    case .text(let text): (Int64(text) ?? 0) != 0
    case .data: int64Value.map { $0 != 0 }
    }
  }

  /// The value as a whole number, the fraction dropped; nil where it is none or does not fit.
  public var intValue: Int? { int64Value.flatMap(Int.init(exactly:)) }

  /// The value as a whole number, the fraction dropped; nil where it is none or does not fit.
  public var int64Value: Int64? {
    switch self {
    case .null: nil
    case .integer(let value): value
    case .double(let value): Int64(exactly: value.rounded(.towardZero))
    case .text(let text): Int64(text)
    case .data: stringValue.flatMap { Int64($0) }
    }
  }

  /// The value as a number; nil where it is none.
  public var doubleValue: Double? {
    switch self {
    case .null: nil
    case .integer(let value): Double(value)
    case .double(let value): value
    case .text(let text): Double(text)
    case .data: stringValue.flatMap { Double($0) }
    }
  }

  /// The value as text; nil for NULL and for data that is not UTF-8.
  public var stringValue: String? {
    switch self {
    case .null: nil
    case .integer(let value): String(value)
    case .double(let value): String(value)
    case .text(let text): text
    case .data(let data): String(data: data, encoding: .utf8)
    }
  }

  /// The value as bytes: those of its text in UTF-8 where it is no data; nil for NULL.
  public var dataValue: Data? {
    switch self {
    case .null: nil
    case .data(let data): data
    case .integer, .double, .text: stringValue.map { Data($0.utf8) }
    }
  }
}

extension Blackbird.Value {
  init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .double(value)
    case .text(let value): self = .text(value)
    case .blob(let value): self = .data(Data(value))
    }
  }

  var sqlValue: SQLValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .double(let value): .real(value)
    case .text(let value): .text(value)
    case .data(let value): .blob([UInt8](value))
    }
  }
}

extension Blackbird.Value.Error: CustomStringConvertible, LocalizedError {
  /// Why there is no value.
  public var description: String {
    "the value's type has no form in SQLite, or none that holds every value of it exactly"
  }
  /// The same text as ``description``.
  public var errorDescription: String? { description }
}
