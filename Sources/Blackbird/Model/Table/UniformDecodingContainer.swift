/// A keyed container that loads values of all types alike.
protocol UniformDecodingContainer: KeyedDecodingContainerProtocol {
  func load<Item: Decodable>(_ type: Item.Type, _ key: Key) throws -> Item
  var decoder: any Decoder { get }
}

extension UniformDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try BlackbirdDefaultsDecoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    EmptyDecodingContainer()
  }
  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder }

  func decode<Item: Decodable>(_ type: Item.Type, forKey key: Key) throws -> Item {
    try load(type, key)
  }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try load(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try load(type, key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try load(type, key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try load(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try load(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try load(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try load(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try load(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try load(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try load(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try load(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try load(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try load(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try load(type, key) }
}

/// A container of one value that loads values of all types alike.
protocol UniformSingleValueContainer: SingleValueDecodingContainer {
  func load<Item: Decodable>(_ type: Item.Type) throws -> Item
}

extension UniformSingleValueContainer {
  var codingPath: [any CodingKey] { [] }
  func decode<Item: Decodable>(_ type: Item.Type) throws -> Item { try load(type) }
  func decode(_ type: Bool.Type) throws -> Bool { try load(type) }
  func decode(_ type: String.Type) throws -> String { try load(type) }
  func decode(_ type: Double.Type) throws -> Double { try load(type) }
  func decode(_ type: Float.Type) throws -> Float { try load(type) }
  func decode(_ type: Int.Type) throws -> Int { try load(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try load(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try load(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try load(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try load(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try load(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try load(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try load(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try load(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try load(type) }
}

/// An unkeyed container without elements.
struct EmptyDecodingContainer: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  private func failure(_ type: Any.Type) -> DecodingError {
    .valueNotFound(type, .init(codingPath: [], debugDescription: "there are no elements"))
  }
  mutating func decodeNil() throws -> Bool { throw failure(Never.self) }
  mutating func decode<Item: Decodable>(_ type: Item.Type) throws -> Item { throw failure(type) }
  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { throw failure(type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw failure([Never].self)
  }
  mutating func superDecoder() throws -> any Decoder { throw failure(Never.self) }
}
