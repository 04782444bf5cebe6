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

  @ObservationIgnored let row: SettingRow
  @ObservationIgnored let codec: any RowCodec
  @ObservationIgnored let engine: SettingsEngine
  /// What the changes on their way are shown on top of; nil while nothing has been read.
  @ObservationIgnored private var base: Result<Data?, any Error>?
  /// The stored form of `base`, so that it is opened once.
  @ObservationIgnored private var baseStored: SQLValue?
  @ObservationIgnored private var pending: [ValueChange] = []
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
    pending.append(change)
    refresh()
  }

  /// Notes how a change has ended; one that failed is no longer shown.
  func end(_ change: ValueChange, _ stored: Result<SQLValue?, any Error>) {
    pending.removeAll { $0.number == change.number }
    switch stored {
    case .success(let stored):
      failure = nil
      if !pending.isEmpty { setBase(stored) }
    case .failure(let error): failure = error
    }
    settle()
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
    if case .success? = base, stored == baseStored { return }
    baseStored = stored
    base = Result { try stored.map { try codec.open($0, of: row, path: engine.location) } }
    if case .failure(SecureValueError.wrongKey) = base { lookAgain(stored) }
    if case .failure(let error) = base {
      SettingsStorage.report(
        StoredValueProblem(path: engine.location, key: row.key, error: error))
    }
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
      base = Result { try now.map { try codec.open($0, of: row, path: engine.location) } }
      guard case .failure(SecureValueError.wrongKey) = base else { return }
    }
  }

  /// Works out what is to be shown, and tells those who look when it is something new.
  func refresh() {
    var new = Shown(revision: shown.revision)
    switch base {
    case .success(let clear)?:
      new.clear = clear
      new.isKnown = true
    case .failure(let error)?: new.error = error
    case nil: break
    }
    for change in pending {
      switch change.kind {
      case .replace(let clear):
        new.clear = clear
        new.isKnown = true
        new.error = nil
      case .modify(let function):
        guard new.error == nil else { continue }
        // The transaction will say what is wrong with one that cannot be applied.
        do { new.clear = try function(new.clear) } catch {}
      }
    }
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
