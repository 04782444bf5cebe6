import Foundation
import Glibc

/// State behind one lock, with a condition to wait on.
///
/// `Synchronization.Mutex` has no condition variable, and the threads here have to sleep until
/// something happens. Waiting is for threads of our own only: a cooperative thread would be lost to
/// every other task of the program.
// @unchecked: `state` is only touched with `mutex` locked.
final class Monitor<State>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ initial: sending State) {
    state = initial
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Waits must not move when somebody sets the wall clock.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the lock held.
  func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Runs `body` with the lock held and wakes every waiting thread.
  @discardableResult
  func update<R>(_ body: (inout State) throws -> R) rethrows -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      pthread_cond_broadcast(condition)
    }
    return try body(&state)
  }

  /// Runs `body` with the lock held and wakes one waiting thread.
  @discardableResult
  func updateOne<R>(_ body: (inout State) throws -> R) rethrows -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      pthread_cond_signal(condition)
    }
    return try body(&state)
  }

  /// Blocks the calling thread until `body` returns a value, asking again after each update.
  ///
  /// - Parameter deadline: monotonic clock; nil waits without end. At the deadline `body` is asked a
  ///   last time.
  /// - Returns: what `body` returned, or nil at the deadline.
  func wait<R>(until deadline: MonotonicTime? = nil, _ body: (inout State) throws -> R?) rethrows
    -> R?
  {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = try body(&state) { return result }
      if let deadline {
        var time = deadline.timespec
        if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
          return try body(&state)
        }
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
  }
}
