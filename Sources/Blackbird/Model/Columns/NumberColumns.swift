public import BoutiqueDB

/// A type that is stored as INTEGER.
public protocol BlackbirdStorableAsInteger: Codable {
  /// Returns the number to store.
  func unifiedRepresentation() -> Int64
  /// Returns the value for a number.
  static func from(unifiedRepresentation: Int64) -> Self
}

/// A type that is stored as DOUBLE.
public protocol BlackbirdStorableAsDouble: Codable {
  /// Returns the number to store.
  func unifiedRepresentation() -> Double
  /// Returns the value for a number.
  static func from(unifiedRepresentation: Double) -> Self
}

extension BlackbirdColumnWrappable where Self: BlackbirdStorableAsInteger {
  /// INTEGER.
  public static var columnType: Blackbird.ColumnType { .integer }
  /// Returns the number.
  @inlinable public func _stored() throws -> SQLValue { .integer(unifiedRepresentation()) }
}

extension BlackbirdColumnWrappable where Self: BlackbirdStorableAsDouble {
  /// DOUBLE.
  public static var columnType: Blackbird.ColumnType { .double }
  /// Returns the number, or fails for NaN, which SQLite would store as NULL.
  @inlinable public func _stored() throws -> SQLValue {
    let number = unifiedRepresentation()
    guard !number.isNaN else { throw ColumnValueFailure(self, "SQLite has no NaN") }
    return .real(number)
  }
}

extension FixedWidthInteger where Self: BlackbirdColumnWrappable {
  /// Returns the number where it fits.
  public static func fromValue(_ value: Blackbird.Value) -> Self? {
    value.int64Value.flatMap { Self(exactly: $0) }
  }
  /// Returns an INTEGER that fits, or a whole number that was stored as REAL.
  public static func _restored(_ value: SQLValue) -> Self? {
    switch value {
    case .integer(let number): Self(exactly: number)
    case .real(let number): Self(exactly: number)
    default: nil
    }
  }
  /// Returns an INTEGER that fits, or a whole number that was stored as REAL.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Self? {
    if let number = cell.integer { return Self(exactly: number) }
    return cell.real.flatMap { Self(exactly: $0) }
  }
}

extension BlackbirdStorableAsInteger where Self: FixedWidthInteger {
  /// Returns the number.
  @inlinable public func unifiedRepresentation() -> Int64 { Int64(clamping: self) }
  /// Returns the number, or the nearest one that the type has.
  public static func from(unifiedRepresentation: Int64) -> Self {
    Self(clamping: unifiedRepresentation)
  }
}

extension Int: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension Int8: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension Int16: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension Int32: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension Int64: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension UInt8: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension UInt16: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}
extension UInt32: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {}

// SQLite's integers end at `Int64.max`; a greater number is refused when it is written.

extension UInt: BlackbirdColumnWrappable {
  /// INTEGER.
  public static var columnType: Blackbird.ColumnType { .integer }
  /// Returns the number, or fails above `Int64.max`.
  public func _stored() throws -> SQLValue { .integer(try signed(self)) }
}

extension UInt64: BlackbirdColumnWrappable {
  /// INTEGER.
  public static var columnType: Blackbird.ColumnType { .integer }
  /// Returns the number, or fails above `Int64.max`.
  public func _stored() throws -> SQLValue { .integer(try signed(self)) }
}

private func signed(_ number: some FixedWidthInteger) throws -> Int64 {
  guard let signed = Int64(exactly: number) else {
    throw ColumnValueFailure(number, "SQLite's integers end at \(Int64.max)")
  }
  return signed
}

extension Bool: BlackbirdColumnWrappable, BlackbirdStorableAsInteger {
  /// Returns 1 or 0.
  @inlinable public func unifiedRepresentation() -> Int64 { self ? 1 : 0 }
  /// Returns whether the number is not 0.
  public static func from(unifiedRepresentation: Int64) -> Bool { unifiedRepresentation != 0 }
  /// Returns whether the value is a number other than 0.
  public static func fromValue(_ value: Blackbird.Value) -> Bool? {
    value.int64Value.map { $0 != 0 }
  }
  /// Returns whether an INTEGER is not 0.
  public static func _restored(_ value: SQLValue) -> Bool? {
    guard case .integer(let number) = value else { return nil }
    return number != 0
  }
  /// Returns whether an INTEGER is not 0.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Bool? {
    cell.integer.map { $0 != 0 }
  }
}

extension Double: BlackbirdColumnWrappable, BlackbirdStorableAsDouble {
  /// Returns the number.
  @inlinable public func unifiedRepresentation() -> Double { self }
  /// Returns the number.
  public static func from(unifiedRepresentation: Double) -> Double { unifiedRepresentation }
  /// Returns the number.
  public static func fromValue(_ value: Blackbird.Value) -> Double? { value.doubleValue }
  /// Returns a REAL, or an INTEGER that a `Double` holds exactly.
  public static func _restored(_ value: SQLValue) -> Double? {
    switch value {
    case .real(let number): number
    case .integer(let number): Double(exactly: number)
    default: nil
    }
  }
  /// Returns a REAL, or an INTEGER that a `Double` holds exactly.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Double? {
    cell.real ?? cell.integer.flatMap { Double(exactly: $0) }
  }
}

extension Float: BlackbirdColumnWrappable, BlackbirdStorableAsDouble {
  /// Returns the number.
  @inlinable public func unifiedRepresentation() -> Double { Double(self) }
  /// Returns the nearest number.
  public static func from(unifiedRepresentation: Double) -> Float { Float(unifiedRepresentation) }
  /// Returns the nearest number.
  public static func fromValue(_ value: Blackbird.Value) -> Float? {
    value.doubleValue.map { Float($0) }
  }
  /// Returns the number nearest to a REAL or INTEGER.
  public static func _restored(_ value: SQLValue) -> Float? {
    Double._restored(value).map { Float($0) }
  }
  /// Returns the number nearest to a REAL or INTEGER.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Float? {
    Double._restored(cell).map { Float($0) }
  }
}
