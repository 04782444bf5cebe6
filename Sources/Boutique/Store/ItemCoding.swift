import Foundation

/// Items as data and back: a few where the caller is, many at a time elsewhere.
enum ItemCoding<Item: StorableItem> {
  /// How many items are done on the main actor.
  ///
  /// Handing over to another thread and back costs more than that.
  static var fewItems: Int { 16 }

  /// How many items are worth a task of their own.
  private static var portion: Int { 2048 }

  /// Returns an encoder that makes the same bytes of the same item, so that writing it once more is no news.
  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Returns the items' data, in their order.
  ///
  /// - Throws: what the first item that cannot be encoded throws.
  static func encode(_ items: some Collection<Item>) throws -> [Data] {
    let encoder = encoder()
    return try items.map { try encoder.encode($0) }
  }

  /// Returns the items' data, in their order; several threads work at it.
  ///
  /// - Throws: what an item that cannot be encoded throws.
  @concurrent
  static func encodeMany(_ items: [Item]) async throws -> [Data] {
    try await inPortions(items) { try encode($0) }
  }

  /// What came of reading one item.
  enum Decoded: Sendable {
    case item(Item)
    case failure(StoreError)
  }

  /// Returns what the entries are, in their order.
  static func decode(_ entries: some Collection<StorageEntry>) -> [Decoded] {
    let decoder = JSONDecoder()
    return entries.map { entry in
      do {
        return .item(try decoder.decode(Item.self, from: entry.data))
      } catch {
        return .failure(
          .undecodable(key: entry.key.rawValue, item: "\(Item.self)", message: text(of: error)))
      }
    }
  }

  /// Returns what the entries are, in their order; several threads work at it.
  @concurrent
  static func decodeMany(_ entries: [StorageEntry]) async throws -> [Decoded] {
    try await inPortions(entries) { decode($0) }
  }

  static func text(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "“\(key.stringValue)” is missing"
    case DecodingError.typeMismatch(let type, let context),
      DecodingError.valueNotFound(let type, let context):
      "\(type) expected at \(path(of: context))"
    case DecodingError.dataCorrupted(let context):
      "\(context.debugDescription) at \(path(of: context))"
    default: "\(error)"
    }
  }

  private static func path(of context: DecodingError.Context) -> String {
    context.codingPath.isEmpty
      ? "the top" : "“\(context.codingPath.map(\.stringValue).joined(separator: "."))”"
  }

  private static func inPortions<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], _ body: @escaping @Sendable (ArraySlice<Input>) throws -> [Output]
  ) async throws -> [Output] {
    guard inputs.count > portion else { return try body(inputs[...]) }
    return try await withThrowingTaskGroup(of: (Int, [Output]).self) { group in
      for start in stride(from: 0, to: inputs.count, by: portion) {
        let slice = inputs[start..<min(start + portion, inputs.count)]
        group.addTask { (start, try body(slice)) }
      }
      var parts: [Int: [Output]] = [:]
      for try await (start, outputs) in group { parts[start] = outputs }
      return parts.sorted { $0.key < $1.key }.flatMap(\.value)
    }
  }
}
