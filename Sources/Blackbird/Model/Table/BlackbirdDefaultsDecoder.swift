/// The decoder that makes an instance out of zeros, empty texts and nils.
///
/// The library makes one instance of each model with it, to learn the model's columns. A model's own
/// `init(from:)` that cannot live with such values asks `decoder is BlackbirdDefaultsDecoder`.
public final class BlackbirdDefaultsDecoder: Decoder {
  /// Empty.
  public var codingPath: [any CodingKey] { [] }
  /// Empty.
  public var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// A key that the model asked for.
  struct Request {
    let key: String
    /// The key's name in Swift, which is that of the property.
    let name: String
    /// The origin of the column that was made; nil for a value without a wrapper.
    var origin: ColumnOrigin?
  }

  /// What the model asked for, in order.
  private(set) var requests: [Request] = []

  init() {}

  /// Returns a container that has every key.
  public func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(DefaultsContainer<Key>(defaults: self))
  }
  /// Returns a container without elements.
  public func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyDecodingContainer() }
  /// Returns a container of one value of any type.
  public func singleValueContainer() throws -> any SingleValueDecodingContainer {
    DefaultValueContainer(defaults: self)
  }

  func made(_ origin: ColumnOrigin) {
    guard !requests.isEmpty else { return }
    requests[requests.count - 1].origin = origin
  }

  func hasNoDefault(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      .init(codingPath: [], debugDescription: "\(type) has no value for zero, empty or nil"))
  }

  func value<Item: Decodable>(_ type: Item.Type) throws -> Item {
    if let wrappable = type as? any BlackbirdColumnWrappable.Type {
      guard let value = wrappable._placeholder as? Item else { throw hasNoDefault(type) }
      return value
    }
    if let cases = type as? any CaseIterable.Type, let value = firstCase(cases) as? Item {
      return value
    }
    return try Item(from: BlackbirdDefaultsDecoder())
  }

  fileprivate func value<Item: Decodable>(_ type: Item.Type, _ key: some CodingKey) throws -> Item {
    requests.append(Request(key: key.stringValue, name: codedName(of: key)))
    return type is any AnyBlackbirdColumn.Type ? try Item(from: self) : try value(type)
  }
}

private struct DefaultsContainer<Key: CodingKey>: UniformDecodingContainer {
  let defaults: BlackbirdDefaultsDecoder
  var decoder: any Decoder { defaults }
  var allKeys: [Key] { [] }
  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) throws -> Bool { false }
  func load<Item: Decodable>(_ type: Item.Type, _ key: Key) throws -> Item {
    try defaults.value(type, key)
  }
}

private struct DefaultValueContainer: UniformSingleValueContainer {
  let defaults: BlackbirdDefaultsDecoder
  func decodeNil() -> Bool { true }
  func load<Item: Decodable>(_ type: Item.Type) throws -> Item { try defaults.value(type) }
}

private func firstCase<Cases: CaseIterable>(_ type: Cases.Type) -> Cases? { type.allCases.first }
