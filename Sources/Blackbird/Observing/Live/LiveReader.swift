import Dispatch

/// Reads a live value again and again: once at first, then after every change that concerns it.
///
/// 1. The subscription is made before the first read, so a commit that a read did not see leads to another.
/// 2. One read at a time; changes during a read lead to one more read, whatever their number.
/// 3. Whoever made the reader ends it with `cancel`; it holds the database, and nothing of its maker.
final class LiveReader<Value: Sendable>: Sendable {
  enum Event: Sendable {
    case begins
    /// A read that began after the wish of that number has ended.
    case result(Result<Value, any Error>, Int)
    /// The database was closed or replaced; nothing more will come.
    case end(any Error)
  }

  private let signal: LiveSignal
  private let subscription: ChangeSubscription
  private let task: Task<Void, Never>

  /// - Parameter deliver: called with each event, one at a time; a read waits until it has returned.
  init(
    _ plan: LiveQueryPlan<Value>, in database: Blackbird.Database,
    deliver: @escaping @Sendable (Event) async -> Void
  ) {
    let signal = LiveSignal(plan.scopes)
    self.signal = signal
    subscription = ChangeSubscription(signal, of: database)
    task = Task.detached {
      var failures = 0
      while true {
        switch await signal.next() {
        case .cancelled: return
        case .end(let error):
          await deliver(.end(error))
          return
        case .read(let number):
          await deliver(.begins)
          do {
            let value = try await plan.read(database)
            failures = 0
            await deliver(.result(.success(value), number))
          } catch {
            if Task.isCancelled { return }
            failures += 1
            // Nobody may change anything for a long time.
            if error.mayPass, failures <= 3 { Self.requestLater(signal, failures) }
            await deliver(.result(.failure(error), number))
          }
        }
      }
    }
  }

  deinit { cancel() }

  /// Asks for a read although nothing has changed.
  ///
  /// - Returns: the number of the wish.
  func request() -> Int { signal.request() }

  func cancel() {
    subscription.cancel()
    task.cancel()
  }

  private static func requestLater(_ signal: LiveSignal, _ attempt: Int) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250 * attempt)) {
      [weak signal] in
      signal?.request()
    }
  }
}
