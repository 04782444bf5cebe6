import Synchronization

/// The databases that hold a column's value as it is.
///
/// 1. A value that is set gets an origin of its own, so what is said of the old value and of copies stays.
/// 2. The columns of a row that was read share one origin until they are set.
/// 3. An origin says "saved" only while it is true for every column that shares it.
final class ColumnOrigin: Sendable {
  private struct Saved {
    /// The first database; 0 for none.
    var first: Int64
    /// Further ones; nearly always nil.
    var others: Set<Int64>?
  }

  private let saved: Mutex<Saved>
  /// Whether the columns of a row have it, and not one column alone.
  let isShared: Bool

  /// Creates the origin of a value that is in no database.
  init() {
    saved = Mutex(Saved(first: 0))
    isShared = false
  }

  /// Creates the origin of a row that was read.
  init(savedIn database: Int64) {
    saved = Mutex(Saved(first: database))
    isShared = true
  }

  func isSaved(in database: Int64) -> Bool {
    saved.withLock { $0.first == database || $0.others?.contains(database) == true }
  }

  func markSaved(in database: Int64) {
    saved.withLock { saved in
      if saved.first == 0 || saved.first == database {
        saved.first = database
      } else {
        saved.others = (saved.others ?? []).union([database])
      }
    }
  }

  func markUnsaved(in database: Int64) {
    saved.withLock { saved in
      if saved.first == database { saved.first = 0 }
      saved.others?.remove(database)
    }
  }
}
