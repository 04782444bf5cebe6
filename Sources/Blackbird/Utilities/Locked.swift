import Synchronization

extension Blackbird {
  /// A value behind a lock.
  public final class Locked<T: Sendable>: Sendable {
    private let mutex: Mutex<T>

    /// Creates a locked value.
    public init(_ initialValue: T) { mutex = Mutex(initialValue) }

    /// The value; for a change that depends on it use ``withLock(_:)``.
    public var value: T {
      get { mutex.withLock { $0 } }
      set { mutex.withLock { $0 = newValue } }
    }

    /// Runs `body` with the value while nobody else has it.
    ///
    /// - Parameter body: must not use this lock again.
    @discardableResult
    public func withLock<R: Sendable>(_ body: (inout T) throws -> R) rethrows -> R {
      try mutex.withLock { value in try body(&value) }
    }
  }
}
