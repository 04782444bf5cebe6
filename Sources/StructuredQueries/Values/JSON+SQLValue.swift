import Foundation

/// A `Codable` value kept as JSON text: `@Column(as: [String].JSONRepresentation.self)`.
///
/// Keys are sorted, so that equal values give equal text.
public enum JSONText<Value: Codable & Sendable>: ValueRepresentation {
  /// The value in Swift.
  public typealias Output = Value

  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the JSON of a value, or fails with what its encoding failed with.
  public static func bind(_ output: Value) throws(BindingFailure) -> SQLValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return .text(String(decoding: try encoder.encode(output), as: UTF8.self))
    } catch {
      throw BindingFailure(
        value: String(describing: output), type: String(describing: Value.self),
        reason: "it has no JSON (\(error))")
    }
  }

  /// Returns the value of JSON text.
  public static func decode(_ value: SQLValue) throws(DecodingFailure) -> Value {
    guard case .text(let text) = value else {
      throw DecodingFailure(expected: Value.self, found: value)
    }
    do {
      return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      throw DecodingFailure(
        expected: "JSON of \(Value.self)", found: "\(value.typeName) \(value) (\(error))")
    }
  }
}

extension Decodable where Self: Encodable & Sendable {
  /// The value as JSON text.
  public typealias JSONRepresentation = JSONText<Self>
}
