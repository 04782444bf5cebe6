package import BoutiqueDB
package import Foundation
import Synchronization

/// The databases that this process has open by their paths, so that two engines on one file share one.
///
/// A database may be opened twice in a process; sharing saves threads, and commits of one are no news of a
/// stranger to the other. It is closed when the last of those who were given it lets go of it.
package enum SharedDatabases {
  private struct Entry {
    weak var database: BoutiqueDB?
    var opening: Task<BoutiqueDB, any Error>?
  }

  private static let entries = Mutex<[ByteText: Entry]>([:])

  /// Returns the open database of a path, or opens it; makes the directory, with mode 0700, when it is
  /// missing.
  ///
  /// A failure is not remembered: the next call tries again.
  ///
  /// - Throws: ``BoutiqueError``.
  package static func database(
    at url: URL, configuration: BoutiqueConfiguration = BoutiqueConfiguration()
  ) async throws -> BoutiqueDB {
    let url = url.standardizedFileURL
    let path = url.path(percentEncoded: false)
    let place = ByteText(path)
    enum Found {
      case open(BoutiqueDB)
      case opening(Task<BoutiqueDB, any Error>)
    }
    let found = entries.withLock { entries -> Found in
      if let database = entries[place]?.database { return .open(database) }
      if let opening = entries[place]?.opening { return .opening(opening) }
      // Not a part of the caller's task: others may wait for the same.
      let opening = Task.detached { try await open(url, configuration) }
      entries[place] = Entry(opening: opening)
      return .opening(opening)
    }
    switch found {
    case .open(let database): return database
    case .opening(let opening):
      let result = await opening.result
      entries.withLock { entries in
        guard entries[place]?.opening == opening else { return }
        entries[place] = (try? result.get()).map { Entry(database: $0) }
      }
      return try result.get()
    }
  }

  /// Forgets a database that can no longer be used, because its file was replaced or it was closed; the next
  /// one who asks for its path opens it anew.
  package static func forget(_ database: BoutiqueDB) {
    entries.withLock { entries in
      for (path, entry) in entries where entry.opening == nil && entry.database === database {
        entries[path] = nil
      }
    }
  }

  private static func open(
    _ url: URL, _ configuration: BoutiqueConfiguration
  ) async throws -> BoutiqueDB {
    let directory = url.deletingLastPathComponent().path(percentEncoded: false)
    if configuration.createIfMissing, !configuration.readOnly {
      do {
        try DirectoryMaking.make(directory)
      } catch {
        throw error.error
      }
    }
    return try await BoutiqueDB.open(url: url, configuration: configuration)
  }
}
