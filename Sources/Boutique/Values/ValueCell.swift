import BoutiqueDB
import Foundation
import Observation

/// What this process knows and shows of one row, for all values that name it.
@MainActor @Observable
final class ValueCell {
  /// What is shown.
  struct Shown {
    /// The clear form; nil where nothing is stored, or it is not known.
    var clear: Data?
    /// Why it is not known, or not kept: what is stored cannot be read, the database cannot be read or
    /// followed, the last change was not stored.
    var error: (any Error)?
    /// Whether `clear` says what is stored, with this process's changes.
    var isKnown = false
    /// Counts the different clear forms.
    var revision = 0
  }

  private(set) var shown = Shown()

  /// What is to be shown after the base, or after one of the changes on their way.
  private struct Layer {
    var clear: Data?
    var isKnown = false
    var error: (any Error)?
  }

  @ObservationIgnored let row: SettingRow
  @ObservationIgnored let codec: any RowCodec
  @ObservationIgnored let engine: SettingsEngine
  /// What the changes on their way are shown on top of; not known while nothing has been read.
  @ObservationIgnored private var base = Layer()
  /// The stored form of `base`, so that it is opened once.
  @ObservationIgnored private var baseStored: SQLValue?
  /// The changes on their way, in their order, each with what is to be shown after it: so one more costs
  /// no more than itself, however many there are.
  @ObservationIgnored private var pending: [(change: ValueChange, after: Layer)] = []
  /// Why the last change was not stored.
  @ObservationIgnored private var failure: (any Error)?
  @ObservationIgnored private var listeners: [Int: () -> Void] = [:]
  @ObservationIgnored private var lastListener = 0

  init(row: SettingRow, codec: any RowCodec, engine: SettingsEngine) {
    self.row = row
    self.codec = codec
    self.engine = engine
  }

  // MARK: Changes

  /// Shows a change that is on its way.
  func add(_ change: ValueChange) {
    pending.append((change, Self.layer(change, on: pending.last?.after ?? base)))
    refresh()
  }

  private static func layer(_ change: ValueChange, on layer: Layer) -> Layer {
    switch change.kind {
    case .replace(let clear): return Layer(clear: clear, isKnown: true)
    case .modify(let function):
      guard layer.error == nil else { return layer }
      var layer = layer
      // The transaction will say what is wrong with one that cannot be applied.
      do { layer.clear = try function(layer.clear) } catch {}
      return layer
    }
  }

  /// Notes how the oldest changes have ended; one that failed is no longer shown.
  func end(_ ended: [(change: ValueChange, stored: Result<SQLValue?, any Error>)]) {
    guard let last = ended.last else { return }
    let count = pending.firstIndex { $0.change.number > last.change.number } ?? pending.count
    let expected = count > 0 ? pending[count - 1].after : base
    pending.removeFirst(count)
    var isAsExpected = true
    var stored: SQLValue??
    for result in ended.map(\.stored) {
      switch result {
      case .success(let value):
        failure = nil
        stored = .some(value)
      case .failure(let error):
        failure = error
        isAsExpected = false
      }
    }
    if !pending.isEmpty {
      if let stored { setBase(stored) }
      isAsExpected = isAsExpected && base.isKnown && base.clear == expected.clear
      if !isAsExpected { layAgain() }
    }
    settle()
  }

  private func layAgain() {
    var layer = base
    for index in pending.indices {
      layer = Self.layer(pending[index].change, on: layer)
      pending[index].after = layer
    }
  }

  /// Notes a change that could not even begin.
  func fail(_ error: any Error) {
    failure = error
    refresh()
  }

  /// Takes what the engine knows of the row, unless changes are on their way.
  func settle() {
    if pending.isEmpty, engine.isLoaded { setBase(engine.stored(in: row)) }
    refresh()
  }

  private func setBase(_ stored: SQLValue?) {
    if base.isKnown, stored == baseStored { return }
    baseStored = stored
    let error = open(stored)
    if case SecureValueError.wrongKey? = error { lookAgain(stored) }
    if let error = base.error {
      SettingsStorage.report(
        StoredValueProblem(path: engine.location, key: row.key, error: error))
    }
  }

  /// Makes what is stored the base.
  ///
  /// - Returns: what it failed with.
  @discardableResult
  private func open(_ stored: SQLValue?) -> (any Error)? {
    do {
      base = Layer(
        clear: try stored.map { try codec.open($0, of: row, path: engine.location) },
        isKnown: true)
    } catch {
      base = Layer(error: error)
    }
    return base.error
  }

  /// Looks whether a row was sealed anew since it was read.
  ///
  /// Then it may name a key that has been rotated away in the meantime, and only what is stored now says
  /// what is wrong.
  private func lookAgain(_ stored: SQLValue?) {
    var last = stored
    for _ in 0..<3 {
      guard let path = try? engine.database.readablePath,
        let now = try? BoutiqueDB.readOnce(
          path: path, { try SettingsTables.read([row], on: $0)[row] }),
        now != last
      else { return }
      last = now
      guard case SecureValueError.wrongKey? = open(now) else { return }
    }
  }

  /// Works out what is to be shown, and tells those who look when it is something new.
  func refresh() {
    let top = pending.last?.after ?? base
    var new = Shown(
      clear: top.clear, error: top.error, isKnown: top.isKnown, revision: shown.revision)
    new.error = new.error ?? failure ?? engine.trouble
    let isNew = new.clear != shown.clear || new.isKnown != shown.isKnown
    if isNew { new.revision += 1 }
    if isNew || (new.error == nil) != (shown.error == nil)
      || new.error.map({ "\($0)" }) != shown.error.map({ "\($0)" })
    {
      shown = new
    }
    if isNew { for listener in listeners.values { listener() } }
  }

  // MARK: Those who listen

  /// Calls a closure whenever another clear form is shown.
  ///
  /// - Returns: the number to remove it by.
  func listen(_ listener: @escaping () -> Void) -> Int {
    lastListener += 1
    listeners[lastListener] = listener
    return lastListener
  }

  func unlisten(_ number: Int) { listeners[number] = nil }
}
