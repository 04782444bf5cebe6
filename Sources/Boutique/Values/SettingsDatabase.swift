import BoutiqueDB
import Synchronization

/// The database of one settings file, opened when it is first needed, once.
///
/// An opening that failed is tried again by whoever asks next.
final class SettingsDatabase: Sendable {
  enum Source: Sendable {
    /// Of this library's making; nil where its path could not be told, and why.
    case file(Result<String, any Error>)
    /// In memory, for tests and previews.
    case memory
    /// The program's own.
    case given(BoutiqueDB)
  }

  private struct State {
    var opening: Task<BoutiqueDB, any Error>?
    var isClosed = false
  }

  let source: Source
  private let state = Mutex(State())

  init(_ source: Source) { self.source = source }

  /// What messages call it.
  var location: String {
    switch source {
    case .file(.success(let path)): path
    case .file(.failure): "the settings database"
    case .memory: ":memory:"
    case .given(let db): db.path
    }
  }

  /// The file that can be read without opening; nil for a database in memory.
  var readablePath: String? {
    get throws {
      switch source {
      case .file(let path): try path.get()
      case .memory: nil
      case .given(let db): db.path == ":memory:" ? nil : db.path
      }
    }
  }

  /// Whether nothing can have been stored before this process stores something.
  var isNewborn: Bool { if case .memory = source { true } else { false } }

  /// Whether somebody else opened it, and closes it.
  var isGiven: Bool { if case .given = source { true } else { false } }

  /// Returns the open database.
  func opened() async throws -> BoutiqueDB {
    if case .given(let db) = source { return db }
    let source = source
    let opening = try state.withLock { state in
      if state.isClosed { throw BoutiqueError.closed(path: location) }
      if let opening = state.opening { return opening }
      // Not of the caller's task: others wait for it, too.
      let opening = Task.detached {
        switch source {
        case .file(let path): try await BoutiqueDB.open(path: try path.get())
        case .memory: try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
        case .given(let db): db
        }
      }
      state.opening = opening
      return opening
    }
    do {
      return try await opening.value
    } catch {
      state.withLock { if $0.opening == opening { $0.opening = nil } }
      throw error
    }
  }

  /// Gives up an open database whose file is no longer the one at its path, so that the next one to ask
  /// opens again.
  func giveUp(_ db: BoutiqueDB) async {
    guard let opening = state.withLock({ $0.opening }), (try? await opening.value) === db else {
      return
    }
    let isMine = state.withLock { state in
      guard state.opening == opening else { return false }
      state.opening = nil
      return true
    }
    if isMine { await db.close() }
  }

  /// Closes it for good, unless it is the program's own.
  func close() async {
    let opening = state.withLock { state in
      state.isClosed = true
      defer { state.opening = nil }
      return state.opening
    }
    if let db = try? await opening?.value { await db.close() }
  }
}
