import BoutiqueDB

/// Takes the values and origins out of an instance, in the order of the table's columns.
///
/// The instance codes itself into it, which is many times quicker than reflection. A model whose own
/// `encode(to:)` leaves columns out is reflected instead. One collector serves any number of instances of one model,
/// one after the other.
final class ColumnCollector: Encoder {
  private let table: ModelTable
  private let count: Int
  private let stored: UnsafeMutablePointer<SQLValue>
  private let collecting: UnsafeMutablePointer<ColumnCollecting>
  /// The column that is being coded.
  private var column = 0
  /// The container for the keys of a type, which refers to this object.
  private var known: (type: ObjectIdentifier, container: AnyObject)?

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private static let nowhere = ColumnOrigin()

  init(_ table: ModelTable) {
    self.table = table
    count = table.columns.count
    stored = .allocate(capacity: count)
    stored.initialize(repeating: .null, count: count)
    let origins = UnsafeMutablePointer<ColumnOrigin>.allocate(capacity: count)
    origins.initialize(repeating: Self.nowhere, count: count)
    collecting = .allocate(capacity: 1)
    collecting.initialize(
      to: ColumnCollecting(
        track: KeyTrack(table.encodingPlan), values: nil, origins: origins, table: table))
  }

  /// Collects the columns of one instance.
  ///
  /// - Throws: ``BlackbirdModelError/valueNotStorable(_:)`` for a value that SQLite has no exact place for.
  convenience init(_ instance: some BlackbirdModel, of table: ModelTable, values wantsValues: Bool)
    throws
  {
    self.init(table)
    defer { forgetContainer() }
    try collect(instance, values: wantsValues)
  }

  deinit {
    stored.deinitialize(count: count)
    stored.deallocate()
    collecting.pointee.origins.deinitialize(count: count)
    collecting.pointee.origins.deallocate()
    collecting.pointee.track.deallocate()
    collecting.deinitialize(count: 1)
    collecting.deallocate()
  }

  /// Lets the container go, which would keep this object alive.
  func forgetContainer() {
    known = nil
    collecting.pointee.track.container = nil
  }

  /// Collects the columns of an instance, in the place of those of the last one.
  ///
  /// - Throws: ``BlackbirdModelError/valueNotStorable(_:)`` for a value that SQLite has no exact place for.
  func collect(_ instance: some BlackbirdModel, values wantsValues: Bool) throws {
    collecting.pointee.values = wantsValues ? stored : nil
    collecting.pointee.collected = 0
    collecting.pointee.track.position = 0
    if !table.encodingPlan.isEmpty {
      try ColumnCollecting.with(collecting) { try instance.encode(to: self) }
      if collecting.pointee.collected == count { return }
    }
    for (index, found) in table.columns(of: instance).enumerated() {
      if wantsValues {
        do {
          stored[index] = try found.storedValue()
        } catch {
          throw collecting.pointee.located(error, index)
        }
      }
      collecting.pointee.origins[index] = found.origin
    }
  }

  // MARK: What was collected

  /// What is stored for each column; valid while this object lives and collects nothing further.
  var storedValues: UnsafeBufferPointer<SQLValue> {
    UnsafeBufferPointer(start: stored, count: count)
  }

  /// What is stored for each column.
  var values: [SQLValue] { Array(storedValues) }

  /// The origin of each column; valid while this object lives and collects nothing further.
  var origins: UnsafeBufferPointer<ColumnOrigin> {
    UnsafeBufferPointer(start: collecting.pointee.origins, count: count)
  }

  /// Takes the column that is being coded.
  func collect<Value: BlackbirdColumnWrappable>(_ value: Value, _ origin: ColumnOrigin) throws {
    try collecting.pointee.collect(value, origin, at: column)
  }

  // MARK: Encoding

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard MemoryLayout<KeyedEncodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else {
      return KeyedEncodingContainer(CollectingContainer<Key>(collector: self))
    }
    let id = ObjectIdentifier(type)
    if let known, known.type == id {
      // Sound: it was made for the same type of keys, and is a reference and nothing else.
      return unsafeBitCast(known.container, to: KeyedEncodingContainer<Key>.self)
    }
    let container = KeyedEncodingContainer(CollectingContainer<Key>(collector: self))
    known = (id, unsafeBitCast(container, to: AnyObject.self))
    collecting.pointee.track.expect(
      type, table.encodingPlan, in: unsafeBitCast(container, to: UnsafeRawPointer.self))
    return container
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringElements() }
  func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringElements() }

  fileprivate func store(_ value: some Encodable, _ key: some CodingKey) throws {
    let plan = table.encodingPlan
    let position = collecting.pointee.track.position
    let found: ModelTable.PlannedKey
    if position < plan.count, plan[position].key == key.stringValue {
      found = plan[position]
      collecting.pointee.track.position += 1
    } else if let index = plan.firstIndex(where: { $0.key == key.stringValue }) {
      found = plan[index]
      collecting.pointee.track.position = index + 1
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
