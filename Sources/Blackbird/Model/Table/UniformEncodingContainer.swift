/// A keyed container that stores values of all types alike.
protocol UniformEncodingContainer: KeyedEncodingContainerProtocol {
  func store<Item: Encodable>(_ value: Item, _ key: Key) throws
  var encoder: any Encoder { get }
}

extension UniformEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  func encodeNil(forKey key: Key) throws {}
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(IgnoringEncodingContainer()) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    IgnoringElements()
  }
  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { encoder }

  func encode<Item: Encodable>(_ value: Item, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Bool, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: String, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Double, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Float, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Int, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Int8, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Int16, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Int32, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: Int64, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: UInt, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try store(value, key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try store(value, key) }
}

/// Takes everything and keeps nothing: for what a model codes beside its columns.
struct IgnoringEncodingContainer<Key: CodingKey>: UniformEncodingContainer {
  var encoder: any Encoder { IgnoringEncoder() }
  func store<Item: Encodable>(_ value: Item, _ key: Key) throws {}
}

private struct IgnoringEncoder: Encoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(IgnoringEncodingContainer())
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringElements() }
  func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringElements() }
}

/// Takes elements and keeps none.
struct IgnoringElements: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }
  mutating func encodeNil() throws {}
  mutating func encode<Item: Encodable>(_ value: Item) throws {}
  mutating func encode(_ value: Bool) throws {}
  mutating func encode(_ value: String) throws {}
  mutating func encode(_ value: Double) throws {}
  mutating func encode(_ value: Float) throws {}
  mutating func encode(_ value: Int) throws {}
  mutating func encode(_ value: Int8) throws {}
  mutating func encode(_ value: Int16) throws {}
  mutating func encode(_ value: Int32) throws {}
  mutating func encode(_ value: Int64) throws {}
  mutating func encode(_ value: UInt) throws {}
  mutating func encode(_ value: UInt8) throws {}
  mutating func encode(_ value: UInt16) throws {}
  mutating func encode(_ value: UInt32) throws {}
  mutating func encode(_ value: UInt64) throws {}
  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { KeyedEncodingContainer(IgnoringEncodingContainer()) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  mutating func superEncoder() -> any Encoder { IgnoringEncoder() }
}
