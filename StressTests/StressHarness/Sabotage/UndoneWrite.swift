import BoutiqueDB
import FaultPoints
import Synchronization

/// The bug ``Sabotage/undoneWrite``, which lies in the harness's own workers: a write of theirs that is undone and
/// told as done.
enum UndoneWrite {
  private static let writes = Atomic(0)

  /// Every so many writes of a process are undone.
  private static let period = 10

  private struct Undone: Error {}

  /// Whether the next write is to be undone; counts.
  static func isDue() -> Bool {
    guard Sabotage.undoneWrite.isOn else { return false }
    return writes.add(1, ordering: .relaxed).newValue.isMultiple(of: period)
  }

  /// Writes, and undoes it where the bug is built in and it is its turn.
  static func write<R: Sendable>(
    _ db: BoutiqueDB, timeout: Duration? = nil,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    guard isDue() else { return try await db.write(timeout: timeout, body) }
    let told = Mutex<R?>(nil)
    do {
      return try await db.write(timeout: timeout) { connection in
        let result = try body(connection)
        told.withLock { $0 = result }
        throw Undone()
      }
    } catch let error as Undone {
      guard let result = told.withLock({ $0 }) else { throw error }
      return result
    }
  }
}
