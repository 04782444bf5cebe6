import Glibc

/// The signals that ask a process of the demo to end; each ends it in order.
enum EndingSignals {
  /// Ctrl-C, `kill`, and the end of the terminal.
  static let all = [SIGINT, SIGTERM, SIGHUP]
}
