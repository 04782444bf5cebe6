public import BoutiqueDB
public import Foundation

/// A type that is stored as TEXT.
public protocol BlackbirdStorableAsText: Codable {
  /// Returns the text to store.
  func unifiedRepresentation() -> String
  /// Returns the value for a text.
  static func from(unifiedRepresentation: String) -> Self
}

/// A type that is stored as BLOB.
public protocol BlackbirdStorableAsData: Codable {
  /// Returns the bytes to store.
  func unifiedRepresentation() -> Data
  /// Returns the value for bytes.
  static func from(unifiedRepresentation: Data) -> Self
}

extension BlackbirdColumnWrappable where Self: BlackbirdStorableAsText {
  /// TEXT.
  public static var columnType: Blackbird.ColumnType { .text }
  /// Returns the text.
  @inlinable public func _stored() throws -> SQLValue { .text(unifiedRepresentation()) }
}

extension BlackbirdColumnWrappable where Self: BlackbirdStorableAsData {
  /// BLOB.
  public static var columnType: Blackbird.ColumnType { .data }
  /// Returns the bytes.
  public func _stored() throws -> SQLValue { .blob([UInt8](unifiedRepresentation())) }
}

extension String: BlackbirdColumnWrappable, BlackbirdStorableAsText {
  /// Returns the text.
  @inlinable public func unifiedRepresentation() -> String { self }
  /// Returns the text.
  public static func from(unifiedRepresentation: String) -> String { unifiedRepresentation }
  /// Returns the text.
  public static func fromValue(_ value: Blackbird.Value) -> String? { value.stringValue }
  /// Returns a TEXT.
  public static func _restored(_ value: SQLValue) -> String? {
    guard case .text(let text) = value else { return nil }
    return text
  }
  /// Returns a TEXT.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> String? { cell.text }
}

extension Data: BlackbirdColumnWrappable, BlackbirdStorableAsData {
  /// Returns the bytes.
  public func unifiedRepresentation() -> Data { self }
  /// Returns the bytes.
  public static func from(unifiedRepresentation: Data) -> Data { unifiedRepresentation }
  /// Returns the bytes.
  public static func fromValue(_ value: Blackbird.Value) -> Data? { value.dataValue }
  /// Returns a BLOB.
  public static func _restored(_ value: SQLValue) -> Data? {
    guard case .blob(let bytes) = value else { return nil }
    return Data(bytes)
  }
  /// Returns a BLOB.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Data? {
    cell.blob.map { Data($0) }
  }
}

extension Date: BlackbirdColumnWrappable, BlackbirdStorableAsDouble {
  /// Returns seconds since 1970.
  @inlinable public func unifiedRepresentation() -> Double { timeIntervalSince1970 }
  /// Returns the date that many seconds after 1970.
  public static func from(unifiedRepresentation: Double) -> Date {
    Date(timeIntervalSince1970: unifiedRepresentation)
  }
  /// Returns the date that many seconds after 1970.
  public static func fromValue(_ value: Blackbird.Value) -> Date? {
    value.doubleValue.map { Date(timeIntervalSince1970: $0) }
  }
  /// Returns the date for REAL or INTEGER seconds since 1970.
  public static func _restored(_ value: SQLValue) -> Date? {
    Double._restored(value).map { Date(timeIntervalSince1970: $0) }
  }
  /// Returns the date for REAL or INTEGER seconds since 1970.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> Date? {
    Double._restored(cell).map { Date(timeIntervalSince1970: $0) }
  }
}

extension URL: BlackbirdColumnWrappable, BlackbirdStorableAsText {
  /// Returns the absolute string.
  public func unifiedRepresentation() -> String { absoluteString }
  /// Returns the URL, or one of a file where the text is none.
  public static func from(unifiedRepresentation: String) -> URL {
    URL(string: unifiedRepresentation) ?? URL(filePath: unifiedRepresentation)
  }
  /// Returns the URL where the text is one.
  public static func fromValue(_ value: Blackbird.Value) -> URL? {
    value.stringValue.flatMap { $0.isEmpty ? nil : URL(string: $0) }
  }
  /// Returns the URL where a TEXT is one.
  public static func _restored(_ value: SQLValue) -> URL? {
    guard case .text(let text) = value, !text.isEmpty else { return nil }
    return URL(string: text)
  }
  /// The root directory.
  public static var _placeholder: URL? { URL(filePath: "/") }
}

extension UUID: BlackbirdColumnWrappable {
  /// TEXT.
  public static var columnType: Blackbird.ColumnType { .text }
  /// Returns the text in lower case.
  public func _stored() throws -> SQLValue { .text(uuidString.lowercased()) }
  /// Returns the identifier where the text is one.
  public static func fromValue(_ value: Blackbird.Value) -> UUID? {
    value.stringValue.flatMap { UUID(uuidString: $0) }
  }
  /// Returns the identifier where a TEXT is one, in either case.
  public static func _restored(_ value: SQLValue) -> UUID? {
    guard case .text(let text) = value else { return nil }
    return UUID(uuidString: text)
  }
  /// Returns the identifier where a TEXT is one, in either case.
  @inlinable public static func _restored(_ cell: BlackbirdCell) -> UUID? {
    cell.text.flatMap { UUID(uuidString: $0) }
  }
  /// The identifier of zeros.
  public static var _placeholder: UUID? {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
}
