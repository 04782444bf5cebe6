import Dispatch
import Glibc

/// Lets a program that looks again and again sleep until its next look, or until it is asked to end.
///
/// The signals have to be blocked early (see ``SignalWatch``); the thread that waits must not await.
package final class StopSignals: Sendable {
  /// The signals that ask for an orderly end.
  package static let ending = [SIGINT, SIGTERM, SIGHUP]

  private let asked = DispatchSemaphore(value: 0)

  /// Starts to listen to the signals that end and to some others.
  package init(
    others: [Int32] = [], onOther: @escaping @Sendable (Int32) -> Void = { _ in }
  ) {
    let asked = asked
    SignalWatch.start(Self.ending + others) { signal in
      if Self.ending.contains(signal) {
        asked.signal()
      } else {
        onOther(signal)
      }
    }
  }

  /// Waits; returns true as soon as the end was asked for.
  package func wait(for time: Duration) -> Bool {
    let nanoseconds = Int((time.inSeconds * 1e9).rounded())
    return asked.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }
}
