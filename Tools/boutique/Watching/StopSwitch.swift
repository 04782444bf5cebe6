import CommandLineSupport
import Glibc
import Synchronization

/// Ends a command that would go on for ever when the user or the system asks for it.
///
/// SIGINT, SIGTERM and SIGHUP cancel the work and count as an orderly end.
final class StopSwitch: Sendable {
  private struct State {
    var isStopped = false
    var stop: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// The signals that stop.
  static let signals = [SIGINT, SIGTERM, SIGHUP]

  /// Starts to listen to its signals and some others; all have to be among the command's.
  init(others: [Int32] = [], onOther: @escaping @Sendable (Int32) -> Void = { _ in }) {
    SignalWatch.start(Self.signals + others) { [weak self] signal in
      Self.signals.contains(signal) ? self?.stop() : onOther(signal)
    }
  }

  /// Does the work in a task that the switch cancels.
  ///
  /// Returns when it is done, or stopped.
  func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let isLate = state.withLock { state in
      state.stop = { task.cancel() }
      return state.isStopped
    }
    if isLate { task.cancel() }
    do {
      try await task.value
    } catch {
      // What fails because it was cancelled is no failure.
      if !state.withLock({ $0.isStopped }) { throw error }
    }
    state.withLock { $0.stop = nil }
  }

  private func stop() {
    let action = state.withLock { state in
      state.isStopped = true
      return state.stop
    }
    action?()
  }
}
