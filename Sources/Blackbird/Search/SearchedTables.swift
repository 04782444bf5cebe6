import BoutiqueDB
import Synchronization

/// The tables with a full-text index that this process uses in a database.
final class SearchedTables: DatabaseAttachment {
  private let names = Mutex<Set<String>>([])

  /// Remembers that a table is searched, so that writes bring its index up to date.
  func insert(_ table: String) { names.withLock { _ = $0.insert(table) } }

  /// Brings the indexes up to date at the end of a write.
  ///
  /// An index that cannot be must not undo what the caller wrote. Its notes stay, and the next search tells.
  func settle(on connection: BoutiqueConnection) throws {
    for table in names.withLock({ $0 }) {
      let index = SearchIndex(table)
      guard try index.hasNotes(on: connection) else { continue }
      do {
        try connection.savepoint { try index.applyNotes(on: connection) }
      } catch BoutiqueError.corrupt {
        continue
      } catch BoutiqueError.sql {
        continue
      }
    }
  }
}

extension Blackbird.Database {
  var searchedTables: SearchedTables { attachments.get { SearchedTables() } }
}
