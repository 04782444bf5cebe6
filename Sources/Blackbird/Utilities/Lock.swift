import Glibc

/// A lock that is taken and given back by two calls.
///
/// It is for short work between threads. Never hold it over an `await`.
public protocol BlackbirdLock: Sendable {
  /// Takes the lock, and waits for it where another thread has it.
  func lock()
  /// Gives the lock back, on the thread that took it.
  func unlock()
  /// Runs `body` with the lock.
  @discardableResult
  func withLock<R: Sendable>(_ body: () throws -> R) rethrows -> R
}

extension BlackbirdLock {
  /// Runs `body` with the lock, which is given back whatever happens.
  @discardableResult
  public func withLock<R: Sendable>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

extension Blackbird {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Makes a lock.
  ///
  /// ``Locked`` is better wherever the lock is for one value.
  public static func Lock() -> any BlackbirdLock { ThreadLock() }
}

/// A mutex of the system's: `Synchronization.Mutex` offers no two separate calls.
///
/// Sendable, since the mutex at the address, which never changes, is made to be used by all threads.
private final class ThreadLock: BlackbirdLock, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
}
