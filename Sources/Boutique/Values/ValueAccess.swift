import Foundation

/// One stored value as its type: what both property wrappers are made of.
@MainActor
final class ValueAccess<Item: StorableItem> {
  private nonisolated let row: SettingRow
  private nonisolated let given: SettingsStorage?
  private nonisolated let codec:
    @MainActor @Sendable (SettingsStorage, SettingsEngine) -> any RowCodec
  /// Whether clear forms are kept out of sight, and decoded values not at all.
  private nonisolated let isSecret: Bool
  private var found: (cell: ValueCell, storage: SettingsStorage)?
  private var decoded: (revision: Int, result: Result<Item?, any Error>)?

  nonisolated init(
    row: SettingRow, storage: SettingsStorage?, isSecret: Bool,
    codec: @escaping @MainActor @Sendable (SettingsStorage, SettingsEngine) -> any RowCodec
  ) {
    self.row = row
    given = storage
    self.codec = codec
    self.isSecret = isSecret
  }

  /// The storage, chosen at the first use for good.
  var storage: SettingsStorage { found?.storage ?? given ?? .default }

  var cell: ValueCell {
    if let found, !found.cell.engine.isClosed { return found.cell }
    let storage = storage
    let engine = storage.engine
    let cell = engine.cell(for: row, codec(storage, engine))
    found = (cell, storage)
    decoded = nil
    return cell
  }

  private func coder(_ cell: ValueCell) -> ValueCoder {
    ValueCoder(key: row.key, path: cell.engine.location, isSecret: isSecret)
  }

  // MARK: Reading

  /// Returns the value; nil where nothing is stored.
  ///
  /// - Throws: why it is not known.
  func current() throws -> Item? {
    let cell = cell
    let shown = cell.shown
    guard shown.isKnown else {
      throw shown.error ?? StoredValueError.notLoaded(key: row.key, path: cell.engine.location)
    }
    if let decoded, decoded.revision == shown.revision { return try decoded.result.get() }
    let coder = coder(cell)
    let result = Result { try shown.clear.map { try coder.decode(Item.self, from: $0) } }
    if case .failure(let error) = result {
      decoded = (shown.revision, result)
      SettingsStorage.report(
        StoredValueProblem(path: cell.engine.location, key: row.key, error: error))
    } else if !isSecret {
      decoded = (shown.revision, result)
    }
    return try result.get()
  }

  var isLoaded: Bool { cell.shown.isKnown }

  var error: (any Error)? {
    let cell = cell
    guard cell.shown.isKnown else { return cell.shown.error }
    do { _ = try current() } catch { return error }
    return cell.shown.error
  }

  // MARK: Changing

  /// Returns the clear form of a value.
  func encode(_ item: Item) throws -> Data { try coder(cell).encode(item) }

  /// Throws when there is no key to seal with.
  func requireKey() throws {
    let cell = cell
    guard let codec = cell.codec as? SealedCodec else { return }
    _ = try codec.vault.sealingKey { cell.engine.holdsSecrets }
  }

  /// Shows an error of a change that could not begin.
  func fail(_ error: any Error) { _ = cell.engine.refuse(error, of: cell) }

  /// Stores a value, or removes it, whatever is stored.
  func replace(with item: Item?) -> ValueCommit {
    let cell = cell
    do {
      let clear = try item.map { try coder(cell).encode($0) }
      return cell.engine.submit(.replace(clear), of: cell)
    } catch {
      return cell.engine.refuse(error, of: cell)
    }
  }

  /// Changes what is stored by a function.
  ///
  /// - Parameter fallback: what the function gets where nothing is stored; when it leaves that as it is,
  ///   nothing is stored.
  func modify(
    fallback: Item?, _ body: @escaping @Sendable (inout Item?) throws -> Void
  ) -> ValueCommit {
    let cell = cell
    return cell.engine.submit(
      .modify(function(coder(cell), fallback, body)), of: cell)
  }

  /// Throws what keeps a function from being applied to what is shown.
  func rehearse(
    fallback: Item?, _ body: @escaping @Sendable (inout Item?) throws -> Void
  ) throws {
    let cell = cell
    guard cell.shown.isKnown || cell.shown.error == nil else {
      _ = try current()
      return
    }
    _ = try function(coder(cell), fallback, body)(cell.shown.clear)
  }

  private func function(
    _ coder: ValueCoder, _ fallback: Item?,
    _ body: @escaping @Sendable (inout Item?) throws -> Void
  ) -> @Sendable (Data?) throws -> Data? {
    { clear in
      var item = try clear.map { try coder.decode(Item.self, from: $0) } ?? fallback
      let before = try clear ?? fallback.map { try coder.encode($0) }
      try body(&item)
      let after = try item.map { try coder.encode($0) }
      return after == before ? clear : after
    }
  }

  // MARK: Listening

  /// Returns the values over time, the present one first.
  ///
  /// - Parameter shown: turns what is stored into what the caller wants to see.
  func values<Value: Sendable>(_ shown: @escaping @Sendable (Item?) -> Value) -> AsyncStream<Value>
  {
    let cell = cell
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(ValueStream.capacity))
    // Decodes for itself: the access may go away before the stream does.
    let coder = coder(cell)
    let yield = { [unowned cell] in
      guard cell.shown.isKnown else { return }
      do {
        let item = try cell.shown.clear.map { try coder.decode(Item.self, from: $0) }
        continuation.yield(shown(item))
      } catch {}  // shown by the value's `error`
    }
    continuation.yield(shown(try? current()))
    let number = cell.listen(yield)
    // Holds the cell, too, as long as somebody listens.
    continuation.onTermination = { _ in Task { @MainActor in cell.unlisten(number) } }
    return stream
  }
}

/// How many values a slow reader of a value's stream may be behind before the oldest are dropped.
enum ValueStream {
  static let capacity = 64
}
