import CommandLineSupport
import Glibc
import Synchronization

/// The one way in which a daemon ends early.
///
/// SIGTERM, SIGINT and SIGHUP ask for it; so does the end of standard input, a pipe that only the
/// coordinator holds open, so that a daemon never outlives a coordinator that was killed. The transaction
/// that runs is finished. A write that still waits for its turn is given up after a grace period.
final class Shutdown: Sendable {
  private static let grace: Duration = .seconds(2)

  private struct State {
    var isRequested = false
    var onRequest: (@Sendable () -> Void)?
    var onGraceEnd: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Begins to listen; the signals have been blocked since the program's start.
  init() {
    SignalWatch.start(EndingSignals.all) { [weak self] _ in self?.request() }
    _ = DetachedThread.start { [weak self] in
      var byte: UInt8 = 0
      while true {
        let got = read(STDIN_FILENO, &byte, 1)
        if got < 0, errno == EINTR { continue }
        if got <= 0 { break }
      }
      self?.request()
    }
  }

  /// Whether the daemon is to end.
  var isRequested: Bool { state.withLock { $0.isRequested } }

  /// Does the daemon's work in a task of its own.
  ///
  /// - Parameter cancelsAtOnce: whether the work is cancelled with the request, not after the grace.
  func run(cancelsAtOnce: Bool, _ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let isLate = state.withLock { state in
      if cancelsAtOnce { state.onRequest = { task.cancel() } }
      state.onGraceEnd = { task.cancel() }
      return state.isRequested
    }
    if isLate, cancelsAtOnce { task.cancel() }
    do {
      try await task.value
    } catch is CancellationError where isRequested {}
  }

  private func request() {
    let action: (@Sendable () -> Void)?? = state.withLock { state in
      guard !state.isRequested else { return nil }
      state.isRequested = true
      return .some(state.onRequest)
    }
    guard let action else { return }
    action?()
    Task {
      try await Task.sleep(for: Self.grace)
      self.state.withLock { $0.onGraceEnd }?()
    }
  }
}

/// Threads for calls that block, which must not hold up Swift's own.
enum DetachedThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread; returns whether there is one.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Work(body))
    let outcome = pthread_create(
      &thread, nil,
      { box in
        guard let box else { return nil }
        Unmanaged<Work>.fromOpaque(box).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    if outcome != 0 {
      box.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
