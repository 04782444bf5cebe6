// The one thread of the process that listens to all bells.
//
// For: commits of other processes are noticed within microseconds, by one thread however many
// databases are open, and by none when nobody listens.
//
// Invariants
//  1. Only the thread touches libinotifytools and the table of watches. Others add and remove
//     listeners under the mutex and wake it.
//  2. Handlers are called outside of the mutex, on the thread.
//  3. Events may be lost, doubled, early or false; none is ever trusted for more than "look".
//     Whenever watches were set up again, listeners hear `.overflow` and `.writeAheadLogWritten`,
//     since what happened meanwhile raised no event.
//  4. A listener is told how the bell is heard: where nothing can be watched it is told why, and
//     the thread tries again every few seconds.
//
// Steps of the thread: take the list of listeners → set watches → answer those who wait for theirs
// → wait for an event → deliver → again. With no listeners left it stops the library and ends.
//
// The thread is detached and has all signals blocked; the end of the program ends it.

import CLinuxShims
import Glibc
import Synchronization

/// The thread of the process that listens to the bells of all open databases.
package final class BellWatcher: Sendable {
  /// The one of this process: libinotifytools keeps its state per process.
  package static let shared = BellWatcher(calls: .library)

  private struct State {
    var listeners: [Int: BellListener] = [:]
    var nextNumber = 0
    var isRunning = false
    /// Counts changes of the list, so that a caller can wait until the thread has seen its own.
    var changes = 0
    var thread: UInt = 0
    /// Signals of callers that wait until the thread has seen a change.
    var waiting: [(change: Int, signal: GuardedDescriptor)] = []
  }

  private let calls: InotifyCalls
  private let retrySeconds: Int
  private let origin = ForkGuard()
  private let state = Mutex(State())
  /// Wakes the thread while it does not wait in libinotifytools; nil when there was none to be had.
  private let control: GuardedDescriptor?

  /// Makes a watcher of its own; only tests do, with calls of their own.
  package init(calls: InotifyCalls, retrySeconds: Int = 5) {
    self.calls = calls
    self.retrySeconds = max(1, retrySeconds)
    let number = clx_guarded_eventfd()
    control = number >= 0 ? GuardedDescriptor(adopting: number, holdsLocks: false) : nil
  }

  /// Whether the thread exists.
  package var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Listens to a database's bell until the subscription is cancelled or let go.
  ///
  /// Returns when the watches are set (or cannot be: see the subscription's mode), so no bell after
  /// it is missed. The handler is called on the watcher's thread and must be quick.
  package func watch(
    databasePath: String, handler: @escaping @Sendable (BellEvent) -> Void
  ) -> BellSubscription {
    let listener = BellListener(databasePath: databasePath, handler: handler)
    guard origin.isSameProcess else {
      // The thread did not come along, and the mutex may have been copied in the locked state.
      _ = listener.cancel()
      listener.become(.pollingOnly(reason: "the program was forked after the watcher was made"))
      return BellSubscription(watcher: self, number: -1, state: listener)
    }
    let signalNumber = clx_guarded_eventfd()
    let signal =
      signalNumber >= 0 ? GuardedDescriptor(adopting: signalNumber, holdsLocks: false) : nil
    let (number, mayWait) = state.withLock { state in
      let number = state.nextNumber
      state.nextNumber += 1
      state.listeners[number] = listener
      state.changes += 1
      let isOnThread = state.isRunning && state.thread == UInt(pthread_self())
      if let signal, !isOnThread { state.waiting.append((state.changes, signal)) }
      if !state.isRunning { state.isRunning = startThread() }
      return (number, state.isRunning && !isOnThread)
    }
    wakeThread()
    if mayWait, let signal {
      // Bounded, because a handler that blocks the thread must not block callers for ever; the
      // watch then comes later, with an event that says so.
      _ = clx_wait(signal.number, -1, 5_000_000_000)
    } else if !mayWait, !isRunning {
      listener.become(.pollingOnly(reason: "no thread to be had"))
    }
    return BellSubscription(watcher: self, number: number, state: listener)
  }

  func remove(_ number: Int) {
    guard number >= 0, origin.isSameProcess else { return }
    state.withLock { state in
      state.listeners[number] = nil
      state.changes += 1
    }
    wakeThread()
  }

  private func wakeThread() {
    if let control { clx_signal_eventfd(control.number) }
    calls.wake()
  }

  /// With the mutex held.
  private func startThread() -> Bool {
    // The thread keeps the watcher alive until it ends.
    let context = Unmanaged.passRetained(self)
    let result = clx_start_thread(
      "boutique-bell",
      { context in
        guard let context else { return }
        Unmanaged<BellWatcher>.fromOpaque(context).takeRetainedValue().run()
      }, context.toOpaque())
    if result != 0 { context.release() }
    return result == 0
  }

  // MARK: The thread

  private func run() {
    state.withLock { $0.thread = UInt(pthread_self()) }
    var setup = WatchSetup(calls: calls, firstRetry: retrySeconds)
    var filesMayHaveChanged = false
    while true {
      let (listeners, change) = state.withLock { (Array($0.listeners.values), $0.changes) }
      if listeners.isEmpty {
        setup.tearDown()
        if endIfUnused() { return }
        continue
      }
      let isAnew = setup.bringUp(to: Set(listeners.map(\.databasePath)))
      for listener in listeners {
        attend(listener, setup.mode(of: listener.databasePath), anew: isAnew || filesMayHaveChanged)
      }
      filesMayHaveChanged = false
      answer(upTo: change)
      if isAnew {
        for listener in listeners {
          listener.deliver(.overflow)
          // The log may have been written just now, too, by a commit that is not visible yet.
          listener.deliver(.writeAheadLogWritten)
        }
      }
      // A wake-up that came while the library was not running yet has reached nobody.
      if state.withLock({ $0.changes }) != change { continue }
      let events = setup.waitForEvent(control: control)
      filesMayHaveChanged = events.contains { $0.event == .filesChanged || $0.event == .overflow }
      deliver(events)
    }
  }

  /// Lets a listener know how its bell is heard, and ringers know of the listener, after the watch is set.
  private func attend(_ listener: BellListener, _ mode: BellMode, anew: Bool) {
    guard mode == .inotify else { return listener.become(mode) }
    let (isAnew, refusal) = listener.attend(anew: anew)
    listener.become(refusal.map { .pollingOnly(reason: $0) } ?? mode)
    // What was committed between the watch and this was not rung for.
    if isAnew, anew { listener.deliver(.bell) }
  }

  private func endIfUnused() -> Bool {
    state.withLock { state in
      guard state.listeners.isEmpty else { return false }
      state.isRunning = false
      state.thread = 0
      state.waiting = []
      return true
    }
  }

  /// Lets callers go on whose change the thread has seen.
  private func answer(upTo change: Int) {
    let answered = state.withLock { state in
      let answered = state.waiting.filter { $0.change <= change }
      state.waiting.removeAll { $0.change <= change }
      return answered
    }
    for (_, signal) in answered { clx_signal_eventfd(signal.number) }
  }

  private func deliver(_ events: [WatchTable.Delivery]) {
    guard !events.isEmpty else { return }
    // Those of now: somebody may have been added since the watches were set.
    let listeners = state.withLock { Array($0.listeners.values) }
    for delivery in events {
      for listener in listeners where listener.databasePath == delivery.database {
        listener.deliver(delivery.event)
      }
    }
  }
}
