import Foundation
import Glibc

/// A thread of our own, for calls that block: SQLite, file locks, inotify.
///
/// Swift's cooperative pool has as many threads as the machine has cores; one that waits for a lock
/// is missing to every task of the program.
enum DatabaseThread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread that runs `body` once and ends.
  ///
  /// Not by Foundation's `Thread`, which does not say when there is no thread to be had.
  ///
  /// - Parameter name: at most 15 bytes are shown by the kernel.
  /// - Returns: false when the system gives no more threads (`ulimit -u`); `body` is not run then.
  static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    pthread_attr_init(attributes)
    defer {
      pthread_attr_destroy(attributes)
      attributes.deallocate()
    }
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    // Recursive SQL (triggers, views, JSON) goes deep on the C stack.
    pthread_attr_setstacksize(attributes, 8 << 20)
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, attributes,
      { context in
        guard let context else { return nil }
        let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        // Told to the kernel only by the thread itself.
        Thread.current.name = start.name
        start.body()
        return nil
      }, start.toOpaque())
    if code != 0 { start.release() }
    return code == 0
  }

  /// What a call throws when it needed a thread and got none.
  static func missing(path: String) -> BoutiqueError {
    .inputOutput(path: path, message: "the system gives no more threads (ulimit -u)")
  }
}
