import Synchronization

/// The databases that hold a column's value as it is.
///
/// 1. A value that is set gets an origin of its own, so what is said of the old value and of copies stays.
/// 2. The columns of a row that was read share one origin until they are set.
/// 3. An origin says "saved" only while it is true for every column that shares it.
///
/// There is one for every value that is set and for every row that is read, so it is one word beside what every
/// object has. More than one database stand in a table of the process.
@usableFromInline
final class ColumnOrigin: Sendable {
  // The database's number times two, and 1 for an origin that columns share. `many` instead of a number where the
  // table has the databases; once there, they stay there.
  private let word: Atomic<Int64>

  private static let many: Int64 = -2
  private static let shared: Int64 = 1
  private static let table = Mutex<[ObjectIdentifier: Set<Int64>]>([:])

  /// Creates the origin of a value that is in no database.
  @usableFromInline
  init() { word = Atomic(0) }

  /// Creates the origin of a row that was read.
  init(savedIn database: Int64) { word = Atomic(database << 1 | Self.shared) }

  deinit {
    guard word.load(ordering: .relaxed) & ~Self.shared == Self.many else { return }
    let id = ObjectIdentifier(self)
    Self.table.withLock { $0[id] = nil }
  }

  /// Whether the columns of a row have it, and not one column alone.
  var isShared: Bool { word.load(ordering: .relaxed) & Self.shared != 0 }

  func isSaved(in database: Int64) -> Bool {
    let word = word.load(ordering: .acquiring) & ~Self.shared
    guard word == Self.many else { return word == database << 1 }
    let id = ObjectIdentifier(self)
    return Self.table.withLock { $0[id]?.contains(database) == true }
  }

  func markSaved(in database: Int64) {
    let id = ObjectIdentifier(self)
    var now = word.load(ordering: .acquiring)
    while true {
      let flag = now & Self.shared
      switch now & ~Self.shared {
      case database << 1: return
      case Self.many: return Self.table.withLock { _ = $0[id, default: []].insert(database) }
      case 0:
        let (isDone, found) = word.compareExchange(
          expected: now, desired: database << 1 | flag, ordering: .acquiringAndReleasing)
        if isDone { return }
        now = found
      case let other:
        // In the table first: who finds `many` finds the databases as well.
        let (isDone, found) = Self.table.withLock { table in
          let result = word.compareExchange(
            expected: now, desired: Self.many | flag, ordering: .acquiringAndReleasing)
          if result.exchanged { table[id] = [other >> 1, database] }
          return result
        }
        if isDone { return }
        now = found
      }
    }
  }

  func markUnsaved(in database: Int64) {
    let flag = word.load(ordering: .relaxed) & Self.shared
    let (isDone, found) = word.compareExchange(
      expected: database << 1 | flag, desired: flag, ordering: .acquiringAndReleasing)
    guard !isDone, found & ~Self.shared == Self.many else { return }
    let id = ObjectIdentifier(self)
    Self.table.withLock { _ = $0[id]?.remove(database) }
  }
}
