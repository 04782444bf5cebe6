import Glibc
import Synchronization

/// What must not outlive this process: mounts, groups, settings.
///
/// Undone when the fault ends, and otherwise when the process exits. Signals are the program's affair: who listens
/// to them here, too, may take the disk away from workers that are still at work.
///
/// A process that is killed by a signal undoes nothing; the next run sweeps what it finds of one that is gone.
package enum Undoing {
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
  ///
  /// For who leaves by `_exit`, which calls nobody.
  package static func all() {
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
  }
}
