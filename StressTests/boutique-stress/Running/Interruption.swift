import CommandLineSupport
import Glibc
import StressFaults
import StressHarness
import Synchronization

/// Ends the run that is under way when a signal asks for it, and all that would follow.
///
/// The first signal ends the work: workers end, faults are lifted, what was done is checked. The third ends the
/// program at once; the workers die with it.
final class Interruption: Sendable {
  private struct State {
    var run: StressRun?
    var signal: Int32?
    var count = 0
  }

  private let state = Mutex(State())

  /// Listens to the signals, which are blocked; see ``SignalWatch``.
  init(_ console: Console) {
    SignalWatch.start(StopSignals.ending) { [self] signal in
      let (count, run) = state.withLock { state in
        state.count += 1
        state.signal = state.signal ?? signal
        return (state.count, state.run)
      }
      if count >= 3 {
        // Mounts and groups outlive a process, and `_exit` undoes nothing.
        Undoing.all()
        _exit(128 + signal)
      }
      if count == 1 {
        console.complain("ending the run; twice more to leave at once")
        Task { await run?.interrupt() }
      }
    }
  }

  /// The first signal that came.
  var signal: Int32? { state.withLock { $0.signal } }

  /// Says which run is under way.
  func begin(_ run: StressRun) async {
    let isOver = state.withLock { state in
      state.run = run
      return state.signal != nil
    }
    if isOver { await run.interrupt() }
  }
}
