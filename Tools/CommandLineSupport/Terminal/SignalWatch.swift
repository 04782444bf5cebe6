import Glibc

/// Turns signals into calls on a thread of its own, so that a program can end in order.
///
/// 1. ``block(_:)`` is called on the main thread before the program has any other: threads inherit
///    the mask, and a signal that every thread blocks stays pending. One thread that does not block
///    it is enough for the kernel to end the process there. A main thread that awaits becomes such
///    a thread, since Dispatch takes all blocks off it (seen in /proc/PID/task/*/status); so it has
///    to do its waiting otherwise.
/// 2. ``start(_:handler:)``, on any thread, starts one that takes the signals with `sigwait` and
///    calls the handler: unlike in a signal handler, everything is allowed there.
package enum SignalWatch {
  private final class Request: Sendable {
    let signals: [Int32]
    let handler: @Sendable (Int32) -> Void

    init(_ signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
      self.signals = signals
      self.handler = handler
    }
  }

  /// Keeps these signals from ending the process, until somebody takes them.
  package static func block(_ signals: [Int32]) {
    var set = set(of: signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Calls the handler for each of these signals, which are blocked, until the process ends.
  package static func start(
    _ signals: [Int32], handler: @escaping @Sendable (Int32) -> Void
  ) {
    let box = Unmanaged.passRetained(Request(signals, handler))
    var thread = pthread_t()
    let outcome = pthread_create(
      &thread, nil,
      { box in
        guard let box else { return nil }
        let request = Unmanaged<Request>.fromOpaque(box).takeRetainedValue()
        var set = SignalWatch.set(of: request.signals)
        while true {
          var signal: Int32 = 0
          if sigwait(&set, &signal) == 0 { request.handler(signal) }
        }
      }, box.toOpaque())
    if outcome == 0 {
      pthread_detach(thread)
    } else {
      // Without the thread the signals get their usual meaning back, in this thread at least.
      box.release()
      var set = set(of: signals)
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
  }

  private static func set(of signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }
}
