public import BoutiqueDB
public import Foundation

extension Blackbird {
  /// The types that columns have in SQLite.
  public enum ColumnType: String, Sendable, Hashable {
    /// A whole number of 64 bits.
    case integer = "INTEGER"
    /// A floating point number of 64 bits.
    case double = "DOUBLE"
    /// Text.
    case text = "TEXT"
    /// Bytes.
    case data = "BLOB"

    /// The value that a new column has in rows that are there already.
    var zero: SQLValue {
      switch self {
      case .integer: .integer(0)
      case .double: .real(0)
      case .text: .text("")
      case .data: .blob([])
      }
    }
  }
}

/// A type whose values a column can have.
///
/// A type of yours says how it is stored by one more conformance: ``BlackbirdStorableAsInteger``,
/// ``BlackbirdStorableAsDouble``, ``BlackbirdStorableAsText``, ``BlackbirdStorableAsData`` (together with
/// ``fromValue(_:)``), or ``BlackbirdStorableAsJSON``, which needs nothing further; enums by
/// ``BlackbirdIntegerEnum`` or ``BlackbirdStringEnum`` alone.
public protocol BlackbirdColumnWrappable: Hashable, Codable, Sendable {
  /// Returns the value for one of the database, or nil where it does not fit.
  static func fromValue(_ value: Blackbird.Value) -> Self?
  /// The type of the column.
  static var columnType: Blackbird.ColumnType { get }

  /// Whether NULL is a value; for `Optional` alone.
  static var _isOptional: Bool { get }
  /// A value to make a first instance with; nil where there is none.
  static var _placeholder: Self? { get }
  /// What rows that are there already get in a new column; nil where no such value fits the type.
  static var _newColumnValue: SQLValue? { get }
  /// Returns the value for a stored one, or nil where it does not fit exactly.
  static func _restored(_ value: SQLValue) -> Self?
  /// Returns the value for that of a row that is being read; the same as for the stored value.
  static func _restored(_ cell: BlackbirdCell) -> Self?
  /// Returns what is stored.
  ///
  /// - Throws: ``ColumnValueFailure`` for a value that SQLite has no exact place for.
  func _stored() throws -> SQLValue
}

/// A value that cannot be stored in a column.
public struct ColumnValueFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
  /// The value, as text.
  public let value: String
  /// Its type.
  public let type: String
  /// Why it cannot be stored.
  public let reason: String

  @usableFromInline init(_ value: some Any, _ reason: String) {
    self.value = String(describing: value)
    type = String(describing: Swift.type(of: value))
    self.reason = reason
  }

  /// The failure as one sentence.
  public var description: String { "\(type) \(value) cannot be stored: \(reason)" }
  /// The same text as ``description``.
  public var errorDescription: String? { description }
}

extension BlackbirdColumnWrappable {
  /// False.
  public static var _isOptional: Bool { false }
  /// The value for zero, the empty text or empty data.
  public static var _placeholder: Self? { _restored(columnType.zero) }
  /// Returns the value by ``fromValue(_:)``.
  public static func _restored(_ value: SQLValue) -> Self? {
    value.isNull ? nil : fromValue(Blackbird.Value(value))
  }
  /// Returns the value for the stored one.
  public static func _restored(_ cell: BlackbirdCell) -> Self? { _restored(cell.sqlValue) }

  /// Zero, the empty text or empty data, where the type has that.
  public static var _newColumnValue: SQLValue? {
    _restored(columnType.zero) == nil ? nil : columnType.zero
  }
}

extension Optional: BlackbirdColumnWrappable where Wrapped: BlackbirdColumnWrappable {
  /// Returns nil for NULL, else what the wrapped type makes of it.
  public static func fromValue(_ value: Blackbird.Value) -> Self? {
    value == .null ? .some(nil) : Wrapped.fromValue(value).map { .some($0) }
  }
  /// The wrapped type's.
  public static var columnType: Blackbird.ColumnType { Wrapped.columnType }
  /// True.
  public static var _isOptional: Bool { true }
  /// Nil as a value.
  public static var _placeholder: Self? { .some(nil) }
  /// NULL.
  public static var _newColumnValue: SQLValue? { .null }
  /// Returns nil for NULL, else what the wrapped type makes of it.
  public static func _restored(_ value: SQLValue) -> Self? {
    value.isNull ? .some(nil) : Wrapped._restored(value).map { .some($0) }
  }
  /// Returns nil for NULL, else what the wrapped type makes of it.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Self? {
    cell.isNull ? .some(nil) : Wrapped._restored(cell).map { .some($0) }
  }
  /// Returns NULL or what the wrapped value gives.
  @inlinable public func _stored() throws -> SQLValue { try self?._stored() ?? .null }
}
