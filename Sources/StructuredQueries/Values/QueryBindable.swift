/// A type whose values are kept in one column as they are.
///
/// A custom type says `QueryBindable` and offers ``sqlValue()`` and `init(sqlValue:)`; an enum with a raw
/// value gets both for free.
public protocol QueryBindable: QueryRepresentable, QueryDecodable where Output == Self {
  /// Returns the value as SQLite stores it.
  ///
  /// - Throws: ``BindingFailure`` when SQLite has no exact place for the value (NaN, or an unsigned
  ///   integer above `Int64.max`), so that nothing is changed silently on its way to the disk.
  func sqlValue() throws(BindingFailure) -> SQLValue
}

/// A value that no storage class of SQLite can hold exactly.
public struct BindingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value, as text.
  public let value: String
  /// The Swift type of the value.
  public let type: String
  /// Why it cannot be stored.
  public let reason: String

  /// Creates a failure that names the value, its type and the reason.
  public init(value: String, type: String, reason: String) {
    self.value = value
    self.type = type
    self.reason = reason
  }

  /// The failure as one sentence.
  public var description: String { "\(type) \(value) cannot be bound: \(reason)" }
}

extension SQLValue: QueryBindable {
  /// Returns the value itself.
  public func sqlValue() throws(BindingFailure) -> SQLValue { self }
}

extension Optional: QueryBindable where Wrapped: QueryBindable {
  /// Returns NULL for nil, else what the wrapped value gives.
  public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard let self, !Wrapped.isNull(self) else { return .null }
    return try self.sqlValue()
  }
}
