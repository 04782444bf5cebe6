/// A secret that is stored sealed and shared by every process that has its key.
///
/// ```swift
/// @SecurelyStoredValue<String>(key: "token", service: "org.example.sync") var token
///
/// try $token.set("…")
/// if let token { … }
/// ```
///
/// What lies on disk is sealed with XChaCha20-Poly1305; the key is in a file that only this user can
/// read, or is given by the program (``SecureKeySource``). `docs/security.md` says what that protects
/// against and what not.
///
/// Otherwise as ``StoredValue``: shown at once, observed, written in order, followed. The value is nil
/// where nothing is stored, and also where what is stored cannot be opened; then ``error`` says why,
/// ``SettingsStorage/problemHandler`` is told, and ``get()`` throws it.
@MainActor @propertyWrapper
public final class SecurelyStoredValue<Item: StorableItem> {
  /// The name under which the value is stored.
  public nonisolated let key: String
  /// The service that the secret is for; values of one key and different services are different ones.
  public nonisolated let service: String?
  /// A further name that keeps values apart.
  public nonisolated let group: String?

  let access: ValueAccess<Item>
  private nonisolated let row: SettingRow

  /// Names a secret.
  ///
  /// - Parameters:
  ///   - key: its name, for every process.
  ///   - service: what it is for; empty is as nil.
  ///   - group: a further name; empty is as nil.
  ///   - storage: where it lives; nil for ``SettingsStorage/default`` as it is when the value is first used.
  public nonisolated init(
    key: String, service: String? = nil, group: String? = nil, storage: SettingsStorage? = nil
  ) {
    self.key = key
    self.service = service
    self.group = group
    let row = SettingRow.secret(service: service ?? "", group: group ?? "", key: key)
    self.row = row
    access = ValueAccess(row: row, storage: storage, isSecret: true) { storage, engine in
      SealedCodec(vault: engine.vault(for: storage))
    }
  }

  /// The value; nil where nothing is stored, or where it cannot be opened (see ``error``).
  public var wrappedValue: Item? { try? access.current() }

  /// The value's calls.
  public var projectedValue: SecurelyStoredValue<Item> { self }

  // MARK: Reading

  /// Returns the value; nil where nothing is stored.
  ///
  /// - Throws: why it is not known: ``SecureValueError``, ``StoredValueError``, or an error of the
  ///   database.
  public func get() throws -> Item? { try access.current() }

  /// Whether the value is known: opened, or set by this process.
  public var isLoaded: Bool { access.isLoaded }

  /// Why the value is not known, is not followed at present, or why the last change was not stored; nil
  /// when all is well.
  public var error: (any Error)? { access.error }

  /// Waits until the value has been read.
  ///
  /// Only a database in memory needs it: files are read at the first look.
  ///
  /// - Throws: why it could not be read.
  public func load() async throws { try await access.cell.engine.loaded() }

  /// The values over time, the present one first, whoever changes it.
  ///
  /// As ``StoredValue/values``.
  public var values: AsyncStream<Item?> { access.values { $0 } }

  // MARK: Writing

  /// Stores a value; nil removes what is stored.
  ///
  /// - Returns: the change on its way, for who wants to wait for its commit.
  /// - Throws: what is wrong at once: there is no usable key, or the value cannot be encoded.
  @discardableResult
  public func set(_ value: Item?) throws -> ValueCommit {
    guard let value else { return try remove() }
    let cell = access.cell
    try access.requireKey()
    return cell.engine.submit(.replace(try access.encode(value)), of: cell)
  }

  /// Removes what is stored; needs no key.
  @discardableResult
  public func remove() throws -> ValueCommit { access.replace(with: nil) }

  /// Changes one part of the value, and leaves the others as whoever wrote them last left them.
  ///
  /// - Throws: as ``modify(_:)``, and ``SecureValueError/nothingStored(_:)``.
  @discardableResult
  public func set<Value: Sendable>(
    _ keyPath: any (WritableKeyPath<Item, Value> & Sendable), to value: Value
  ) throws -> ValueCommit {
    let place = SealedCodec.envelope(of: row, access.cell.engine.location).place
    return try modify { item in
      guard var changed = item else { throw SecureValueError.nothingStored(place) }
      changed[keyPath: keyPath] = value
      item = changed
    }
  }

  /// Changes the value by a function of what is stored, in one transaction: no other process's change is
  /// lost.
  ///
  /// - Parameter body: gets nil where nothing is stored, and removes the value by leaving nil. It runs on
  ///   the main actor for what is shown, and on a thread of the database for what is stored, so at least
  ///   twice. When it throws, nothing is changed.
  /// - Throws: what is wrong at once: what is stored cannot be opened, there is no usable key, or what
  ///   `body` throws for what is shown.
  @discardableResult
  public func modify(
    _ body: @escaping @Sendable (inout Item?) throws -> Void
  ) throws -> ValueCommit {
    try access.requireKey()
    try access.rehearse(fallback: nil, body)
    return access.modify(fallback: nil, body)
  }

  /// Waits until every change of this value's storage that was made so far is committed.
  ///
  /// - Throws: the first failure of a change since the last call of which nobody was told.
  public func synchronize() async throws { try await access.storage.synchronize() }

  /// The value as a pair of get and set, for what wants one.
  ///
  /// What is wrong at once when it is set is told to ``SettingsStorage/problemHandler``.
  public var binding: ValueBinding<Item?> {
    ValueBinding(
      get: { self.wrappedValue },
      set: { value in
        do { try self.set(value) } catch { self.access.fail(error) }
      })
  }
}
