import Foundation

/// A value's clear form: JSON, the same bytes for the same value wherever Swift gives an order.
///
/// Sorted keys, so that two processes that store equal dictionaries store equal rows. What JSON has no
/// numbers for (infinity, NaN) is written as text.
struct ValueCoder: Sendable {
  let key: String
  /// The database, for messages.
  let path: String
  /// Whether the JSON is kept in guarded memory.
  var isSecret = false

  /// Returns the JSON of a value.
  ///
  /// - Throws: ``StoredValueError/unencodable(key:path:type:message:)``.
  func encode<Item: Encodable>(_ item: Item) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity, negativeInfinity: "-" + Self.infinity, nan: Self.nan)
    var data: Data
    do {
      data = try encoder.encode(item)
    } catch {
      throw StoredValueError.unencodable(
        key: key, path: path, type: "\(Item.self)", message: describe(error))
    }
    return isSecret ? try SecretMemory.guarded(&data) : data
  }

  /// Returns the value of some JSON.
  ///
  /// - Throws: ``StoredValueError/undecodable(key:path:type:message:)``.
  func decode<Item: Decodable>(_ type: Item.Type = Item.self, from data: Data) throws -> Item {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity, negativeInfinity: "-" + Self.infinity, nan: Self.nan)
    do {
      return try decoder.decode(Item.self, from: data)
    } catch {
      throw StoredValueError.undecodable(
        key: key, path: path, type: "\(Item.self)", message: describe(error))
    }
  }

  private static let infinity = "Infinity"
  private static let nan = "NaN"

  // Without anything of the value itself where it is a secret.
  private func describe(_ error: any Error) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "" : " at " + path.map(\.stringValue).joined(separator: ".")
    }
    switch error {
    case DecodingError.typeMismatch(let type, let context):
      return "what is stored\(place(context.codingPath)) is not a \(type)"
    case DecodingError.valueNotFound(let type, let context):
      return "there is null in the place of a \(type)\(place(context.codingPath))"
    case DecodingError.keyNotFound(let key, let context):
      return "there is no “\(key.stringValue)”\(place(context.codingPath))"
    case DecodingError.dataCorrupted(let context):
      return context.codingPath.isEmpty
        ? "it is not JSON of such a value" : "it is damaged\(place(context.codingPath))"
    case EncodingError.invalidValue(_, let context):
      return (isSecret ? "a part has no such form" : context.debugDescription)
        + place(context.codingPath)
    default: return isSecret ? "\(type(of: error))" : "\(error)"
    }
  }
}
