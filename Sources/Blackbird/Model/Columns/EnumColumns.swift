public import BoutiqueDB

/// An enum that is stored as its number.
public protocol BlackbirdIntegerEnum: RawRepresentable, CaseIterable, BlackbirdColumnWrappable
where RawValue: BlackbirdStorableAsInteger & BlackbirdColumnWrappable {}

/// An enum that is stored as its text.
public protocol BlackbirdStringEnum: RawRepresentable, CaseIterable, BlackbirdColumnWrappable
where RawValue: BlackbirdStorableAsText & BlackbirdColumnWrappable {}

extension BlackbirdIntegerEnum {
  /// INTEGER.
  public static var columnType: Blackbird.ColumnType { .integer }
  /// Returns the case with the number.
  public static func fromValue(_ value: Blackbird.Value) -> Self? {
    RawValue.fromValue(value).flatMap { Self(rawValue: $0) }
  }
  /// Returns the case with the number.
  public static func _restored(_ value: SQLValue) -> Self? {
    RawValue._restored(value).flatMap { Self(rawValue: $0) }
  }
  /// Returns the case with the number.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Self? {
    RawValue._restored(cell).flatMap { Self(rawValue: $0) }
  }
  /// Returns the number.
  @inlinable public func _stored() throws -> SQLValue { try rawValue._stored() }
  /// The case of zero, else the first.
  public static var _placeholder: Self? { _restored(columnType.zero) ?? allCases.first }
}

extension BlackbirdStringEnum {
  /// TEXT.
  public static var columnType: Blackbird.ColumnType { .text }
  /// Returns the case with the text.
  public static func fromValue(_ value: Blackbird.Value) -> Self? {
    RawValue.fromValue(value).flatMap { Self(rawValue: $0) }
  }
  /// Returns the case with the text.
  public static func _restored(_ value: SQLValue) -> Self? {
    RawValue._restored(value).flatMap { Self(rawValue: $0) }
  }
  /// Returns the case with the text.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Self? {
    RawValue._restored(cell).flatMap { Self(rawValue: $0) }
  }
  /// Returns the text.
  @inlinable public func _stored() throws -> SQLValue { try rawValue._stored() }
  /// The case of the empty text, else the first.
  public static var _placeholder: Self? { _restored(columnType.zero) ?? allCases.first }
}
