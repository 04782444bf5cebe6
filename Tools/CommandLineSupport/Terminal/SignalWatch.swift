import Glibc

/// Turns signals into calls on a thread of its own, so that a program can end in order.
///
/// 1. The signals are blocked in the calling thread; threads made later inherit that. So this has
///    to be called before the program starts others, else the kernel may hand a signal to one of
///    those, where it still ends the process.
/// 2. One detached thread waits for them with `sigwait` and calls the handler: unlike in a signal
///    handler, everything is allowed there.
package enum SignalWatch {
  private final class Request: Sendable {
    let signals: [Int32]
    let handler: @Sendable (Int32) -> Void

    init(_ signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
      self.signals = signals
      self.handler = handler
    }

    func set() -> sigset_t {
      var set = sigset_t()
      sigemptyset(&set)
      for signal in signals { sigaddset(&set, signal) }
      return set
    }
  }

  /// Calls the handler for each of these signals from now on, until the process ends.
  package static func start(
    _ signals: [Int32], handler: @escaping @Sendable (Int32) -> Void
  ) {
    let request = Request(signals, handler)
    var set = request.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var thread = pthread_t()
    let box = Unmanaged.passRetained(request)
    let outcome = pthread_create(
      &thread, nil,
      { box in
        guard let box else { return nil }
        let request = Unmanaged<Request>.fromOpaque(box).takeRetainedValue()
        var set = request.set()
        while true {
          var signal: Int32 = 0
          if sigwait(&set, &signal) == 0 { request.handler(signal) }
        }
      }, box.toOpaque())
    if outcome == 0 {
      pthread_detach(thread)
    } else {
      // Without the thread the signals keep their usual meaning.
      box.release()
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
  }
}
