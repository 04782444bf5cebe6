import BoutiqueDB

/// Takes the values and origins out of an instance, in the order of the table's columns.
///
/// The instance codes itself into it, which is many times quicker than reflection. A model whose own
/// `encode(to:)` leaves columns out is reflected instead.
final class ColumnCollector: Encoder {
  private let table: ModelTable
  private let wantsValues: Bool
  private(set) var values: [SQLValue]
  private(set) var origins: [ColumnOrigin]
  private var count = 0
  private var position = 0
  private var column = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private static let nowhere = ColumnOrigin()

  /// Collects the columns of an instance.
  ///
  /// - Throws: ``BlackbirdModelError/valueNotStorable(_:)`` for a value that SQLite has no exact place for.
  init(_ instance: some BlackbirdModel, of table: ModelTable, values wantsValues: Bool) throws {
    self.table = table
    self.wantsValues = wantsValues
    values = wantsValues ? [SQLValue](repeating: .null, count: table.columns.count) : []
    origins = [ColumnOrigin](repeating: Self.nowhere, count: table.columns.count)
    if !table.encodingPlan.isEmpty {
      try instance.encode(to: self)
      if count == table.columns.count { return }
    }
    for (index, found) in table.columns(of: instance).enumerated() {
      column = index
      if wantsValues { values[index] = try storing { try found.storedValue() } }
      origins[index] = found.origin
    }
  }

  /// Takes the column that is being coded.
  @inline(__always)
  func collect<Value: BlackbirdColumnWrappable>(_ value: Value, _ origin: ColumnOrigin) throws {
    if wantsValues { values[column] = try storing { try value._stored() } }
    origins[column] = origin
    count += 1
  }

  @inline(__always)
  private func storing(_ body: () throws -> SQLValue) throws -> SQLValue {
    do {
      return try body()
    } catch let failure as ColumnValueFailure {
      throw BlackbirdModelError.valueNotStorable(
        BlackbirdModelError.Unstorable(
          table: table.name, column: table.columns[column].name, failure: failure))
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(CollectingContainer<Key>(collector: self))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringElements() }
  func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringElements() }

  fileprivate func store(_ value: some Encodable, _ key: some CodingKey) throws {
    let plan = table.encodingPlan
    let found: ModelTable.PlannedKey
    if position < plan.count, plan[position].key == key.stringValue {
      found = plan[position]
      position += 1
    } else if let index = plan.firstIndex(where: { $0.key == key.stringValue }) {
      found = plan[index]
      position = index + 1
    } else {
      return
    }
    guard found.column >= 0 else { return }
    column = found.column
    try value.encode(to: self)
  }
}

private struct CollectingContainer<Key: CodingKey>: UniformEncodingContainer {
  let collector: ColumnCollector
  var encoder: any Encoder { collector }
  func store<Item: Encodable>(_ value: Item, _ key: Key) throws {
    try collector.store(value, key)
  }
}

/// Learns in which order a model codes its columns, and under which keys.
final class EncodingRecorder: Encoder {
  private(set) var keys: [(key: String, origin: ColumnOrigin?)] = []

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RecordingContainer<Key>(recorder: self))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringElements() }
  func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringElements() }

  fileprivate func record(_ value: some Encodable, _ key: some CodingKey) {
    keys.append((key.stringValue, (value as? any AnyBlackbirdColumn)?.origin))
  }
}

private struct RecordingContainer<Key: CodingKey>: UniformEncodingContainer {
  let recorder: EncodingRecorder
  var encoder: any Encoder { recorder }
  func store<Item: Encodable>(_ value: Item, _ key: Key) throws { recorder.record(value, key) }
}
