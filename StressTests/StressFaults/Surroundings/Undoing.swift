import Dispatch
import Glibc
import Synchronization

/// What must not outlive this process: mounts, groups, settings.
///
/// Undone when the fault ends, and otherwise when the process ends or is asked to (SIGINT, SIGTERM, SIGHUP).
///
/// A process that is killed by SIGKILL undoes nothing; the next run sweeps what it finds of one that is gone.
enum Undoing {
  private struct State {
    var next = 0
    var steps: [Int: @Sendable () -> Void] = [:]
    var isWatching = false
  }

  // The lock guards the list and says who undoes: each step is done once.
  private static let state = Mutex(State())

  /// Notes how to undo something; returns the number under which it is done.
  static func later(_ step: @escaping @Sendable () -> Void) -> Int {
    watchTheEnd()
    return state.withLock {
      $0.next += 1
      $0.steps[$0.next] = step
      return $0.next
    }
  }

  /// Undoes it, unless that has happened already.
  static func now(_ number: Int) {
    state.withLock { $0.steps.removeValue(forKey: number) }?()
  }

  /// Undoes everything, the last first.
  static func all() {
    while let step = state.withLock({ state in
      state.steps.keys.max().flatMap { state.steps.removeValue(forKey: $0) }
    }) {
      step()
    }
  }

  private static func watchTheEnd() {
    let isFirst = state.withLock { state in
      defer { state.isWatching = true }
      return !state.isWatching
    }
    guard isFirst else { return }
    atexit { Undoing.all() }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var present = sigaction()
      // Whoever handles it already, or ignores it, decides about the end.
      guard sigaction(number, nil, &present) == 0, present.__sigaction_handler.sa_handler == nil
      else { continue }
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        Undoing.all()
        signal(number, SIG_DFL)
        raise(number)
      }
      source.resume()
      // For the rest of the process's life.
      _ = Unmanaged.passRetained(source as AnyObject)
    }
  }
}
