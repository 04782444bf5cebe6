/// A value that is stored in a settings database and shared by every process that uses it.
///
/// ```swift
/// @MainActor @Observable
/// final class Preferences {
///   @ObservationIgnored @StoredValue(key: "hasSoundEffectsEnabled")
///   var hasSoundEffectsEnabled = false
/// }
///
/// if preferences.hasSoundEffectsEnabled { … }       // what is stored, from the first look on
/// preferences.$hasSoundEffectsEnabled.toggle()      // shown at once, then committed
/// ```
///
/// Reading is observed by Observation. Changes go through `$value`; they are shown at once, written in
/// their order in the background, and taken back when they cannot be written. What another process
/// commits is shown as soon as it is heard of.
///
/// Where what is stored cannot be read, the value is its default, and `$value.error` says why;
/// ``SettingsStorage/problemHandler`` is told, and ``get()`` throws it.
@MainActor @propertyWrapper
public final class StoredValue<Item: StorableItem> {
  /// The name under which the value is stored.
  public nonisolated let key: String
  /// What the value is where nothing is stored.
  public nonisolated let defaultValue: Item

  let access: ValueAccess<Item>

  /// Names a stored value.
  ///
  /// - Parameters:
  ///   - wrappedValue: what it is where nothing is stored; this is not stored.
  ///   - key: its name, for every process.
  ///   - storage: where it lives; nil for ``SettingsStorage/default`` as it is when the value is first used.
  public nonisolated init(wrappedValue: Item, key: String, storage: SettingsStorage? = nil) {
    self.key = key
    defaultValue = wrappedValue
    access = ValueAccess(row: .value(key: key), storage: storage, isSecret: false) { _, _ in
      PlainCodec()
    }
  }

  /// Names a stored value with its default after the key.
  public nonisolated convenience init(
    key: String, default value: Item, storage: SettingsStorage? = nil
  ) {
    self.init(wrappedValue: value, key: key, storage: storage)
  }

  /// Names a stored optional that is nil where nothing is stored.
  public nonisolated convenience init(key: String, storage: SettingsStorage? = nil)
  where Item: ExpressibleByNilLiteral {
    self.init(wrappedValue: nil, key: key, storage: storage)
  }

  /// The value: what is stored, with this process's changes; the default where nothing is stored, or
  /// where it could not be read (see ``error``).
  public var wrappedValue: Item { (try? access.current()) ?? defaultValue }

  /// The value's calls.
  public var projectedValue: StoredValue<Item> { self }

  // MARK: Reading

  /// Returns the value.
  ///
  /// - Throws: why it is not known: ``StoredValueError``, or an error of the database.
  public func get() throws -> Item { try access.current() ?? defaultValue }

  /// Whether the value is known: read from the database, or set by this process.
  public var isLoaded: Bool { access.isLoaded }

  /// Why the value is not known, is not followed at present, or why the last change was not stored; nil
  /// when all is well.
  public var error: (any Error)? { access.error }

  /// Waits until the value has been read.
  ///
  /// Only a database in memory needs it: files are read at the first look.
  ///
  /// - Throws: why it could not be read.
  public func load() async throws {
    _ = access.cell
    try await access.cell.engine.loaded()
  }

  /// The values over time, the present one first, whoever changes it.
  ///
  /// Each call makes a sequence of its own. One that is read slowly holds the newest 64 values; the
  /// older ones are dropped. It ends when its task is cancelled.
  public var values: AsyncStream<Item> {
    let defaultValue = defaultValue
    return access.values { $0 ?? defaultValue }
  }

  // MARK: Writing

  /// Stores a value.
  ///
  /// Shown at once and written in the background; last commit wins among processes.
  ///
  /// - Returns: the change on its way, for who wants to wait for its commit.
  @discardableResult
  public func set(_ value: Item) -> ValueCommit { access.replace(with: value) }

  /// Changes one part of the value, and leaves the others as whoever wrote them last left them.
  @discardableResult
  public func set<Value: Sendable>(
    _ keyPath: any (WritableKeyPath<Item, Value> & Sendable), to value: Value
  ) -> ValueCommit {
    modify { $0[keyPath: keyPath] = value }
  }

  /// Removes what is stored, so that the value is its default again.
  @discardableResult
  public func reset() -> ValueCommit { access.replace(with: nil) }

  /// Changes the value by a function of what is stored, in one transaction: no other process's change is
  /// lost.
  ///
  /// - Parameter body: runs on the main actor for what is shown, and on a thread of the database for what
  ///   is stored, so at least twice. When it throws, nothing is changed.
  @discardableResult
  public func modify(_ body: @escaping @Sendable (inout Item) throws -> Void) -> ValueCommit {
    let defaultValue = defaultValue
    return access.modify(fallback: defaultValue) { item in
      var value = item ?? defaultValue
      try body(&value)
      item = value
    }
  }

  /// Waits until every change of this value's storage that was made so far is committed.
  ///
  /// - Throws: the first failure of a change since the last call of which nobody was told.
  public func synchronize() async throws { try await access.storage.synchronize() }

  /// The value as a pair of get and set, for what wants one.
  public var binding: ValueBinding<Item> {
    ValueBinding(get: { self.wrappedValue }, set: { self.set($0) })
  }
}

/// A value as a pair of get and set.
@MainActor
public struct ValueBinding<Value: Sendable> {
  /// Returns the value.
  public let get: @MainActor () -> Value
  /// Changes the value.
  public let set: @MainActor (Value) -> Void

  /// Creates a pair.
  public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
    self.get = get
    self.set = set
  }

  /// The value, to be read and changed.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }
}
