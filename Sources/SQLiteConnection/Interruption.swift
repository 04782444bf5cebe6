internal import CSQLite
internal import Synchronization

/// A handle with which any thread can interrupt what a connection is doing.
///
/// It may outlive the connection: after `Connection.close()` an interruption does nothing.
package final class Interruption: Sendable {
  /// Address of the open connection, zero once closed.
  ///
  /// The lock is held during `sqlite3_interrupt` and while the address is taken away, so that
  /// SQLite is never asked to interrupt a connection that is being closed.
  private let address: Mutex<UInt>

  init(_ database: OpaquePointer) {
    address = Mutex(UInt(bitPattern: database))
  }

  /// Makes the statements that run now fail with `interrupt`; without any, nothing happens.
  ///
  /// Returns whether the connection was open.
  @discardableResult
  package func interrupt() -> Bool {
    address.withLock { address in
      guard let database = OpaquePointer(bitPattern: address) else { return false }
      sqlite3_interrupt(database)
      return true
    }
  }

  func connectionWillClose() {
    address.withLock { $0 = 0 }
  }

  /// The same in the child of a fork, where the lock may be held by a thread that is not there.
  func connectionWasAbandoned() {
    _ = address.withLockIfAvailable { $0 = 0 }
  }
}
