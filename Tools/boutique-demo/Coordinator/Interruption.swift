import CommandLineSupport
import Glibc
import Synchronization

/// What SIGINT, SIGTERM and SIGHUP do to the coordinator: the first one ends the run in order, a second
/// one kills the processes that are left.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var onSignal: (@Sendable (_ isFirst: Bool) -> Void)?
  }

  private let state = Mutex(State())

  /// Begins to listen; the signals have been blocked since the program's start.
  init() {
    SignalWatch.start(EndingSignals.all) { [weak self] signal in self?.arrive(signal) }
  }

  /// The first signal that came.
  var signal: Int32? { state.withLock { $0.signal } }

  /// Says what to do at a signal; done at once when one has come already.
  func handle(_ action: @escaping @Sendable (_ isFirst: Bool) -> Void) {
    let isLate = state.withLock { state in
      state.onSignal = action
      return state.signal != nil
    }
    if isLate { action(true) }
  }

  private func arrive(_ signal: Int32) {
    let (action, isFirst) = state.withLock { state in
      let isFirst = state.signal == nil
      if isFirst { state.signal = signal }
      return (state.onSignal, isFirst)
    }
    action?(isFirst)
  }
}
