import Foundation

/// A thread of our own, for calls that block: SQLite, file locks, inotify.
///
/// Swift's cooperative pool has as many threads as the machine has cores; one that waits for a lock
/// is missing to every task of the program.
enum DatabaseThread {
  /// Starts a thread that runs `body` once and ends.
  ///
  /// - Parameter name: at most 15 bytes are shown by the kernel.
  static func start(name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
      // Told to the kernel only by the thread itself.
      Thread.current.name = name
      body()
    }
    // Recursive SQL (triggers, views, JSON) goes deep on the C stack.
    thread.stackSize = 8 << 20
    thread.start()
  }
}
