import Glibc

/// A place for a pointer of which each thread has its own.
///
/// What decodes and encodes models finds its state there: Codable hands on nothing but the value and its key.
struct ThreadSlot: Sendable {
  // Nil where the process has no more; then everything goes the way that needs none.
  private let key: pthread_key_t?

  init() {
    var key = pthread_key_t()
    self.key = pthread_key_create(&key, nil) == 0 ? key : nil
  }

  var pointer: UnsafeMutableRawPointer? {
    get { key.flatMap { pthread_getspecific($0) } }
    nonmutating set { if let key { pthread_setspecific(key, newValue) } }
  }
}

/// Tells keys of one type apart, where that takes no look at their names.
@usableFromInline
enum KeyBits {
  /// What no key has.
  static let none = -2

  /// Returns the same number for a key each time, another for another key; -1 where the type does not allow it.
  ///
  /// The keys that the compiler makes are enums of one byte, or of none where there is one case.
  @inlinable
  static func of<Key: CodingKey>(_ key: Key) -> Int {
    guard _isPOD(Key.self) else { return -1 }
    switch MemoryLayout<Key>.size {
    case 0: return 0
    case 1: return withUnsafeBytes(of: key) { Int($0[0]) }
    default: return -1
    }
  }

  /// Returns the number for the key of a name; ``none`` where it has no such key or allows no number.
  static func of<Key: CodingKey>(_ type: Key.Type, named name: String) -> Int {
    guard let key = Key(stringValue: name), key.stringValue == name else { return none }
    let bits = of(key)
    return bits < 0 ? none : bits
  }
}

/// The keys of a model in the order in which it uses them: what its coding runs along.
@usableFromInline
struct KeyTrack {
  /// The container that was given to the model; nil where the short way does not apply.
  @usableFromInline var container: UnsafeRawPointer?
  /// For each place the number of the key that is expected.
  @usableFromInline let keys: UnsafeMutablePointer<Int>
  /// For each place the column; -1 for what is none.
  @usableFromInline let columns: UnsafeMutablePointer<Int>
  @usableFromInline let count: Int
  /// The next place.
  @usableFromInline var position = 0

  init(_ plan: [ModelTable.PlannedKey]) {
    count = plan.count
    keys = .allocate(capacity: max(1, count))
    keys.initialize(repeating: KeyBits.none, count: max(1, count))
    columns = .allocate(capacity: max(1, count))
    columns.initialize(repeating: -1, count: max(1, count))
    for (index, key) in plan.enumerated() where key.isWrapper { columns[index] = key.column }
  }

  func deallocate() {
    keys.deallocate()
    columns.deallocate()
  }

  /// Gets ready for a container with keys of a type.
  mutating func expect<Key: CodingKey>(
    _ type: Key.Type, _ plan: [ModelTable.PlannedKey], in container: UnsafeRawPointer
  ) {
    for (index, key) in plan.enumerated() {
      keys[index] = KeyBits.of(type, named: key.key)
    }
    self.container = container
  }

  /// Returns the column of a key where it is the next one that is expected, and goes on; else nil.
  @inlinable
  mutating func take<Key: CodingKey>(_ key: Key, in container: UnsafeRawPointer) -> Int? {
    guard container == self.container, position < count, KeyBits.of(key) == keys[position] else {
      return nil
    }
    let column = columns[position]
    guard column >= 0 else { return nil }
    position += 1
    return column
  }
}
