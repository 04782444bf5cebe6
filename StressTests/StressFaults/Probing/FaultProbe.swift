import CFaultVFS
import FaultPoints
import Foundation
import Glibc

/// A small program for trying faults out: it does what it is told on standard input, a line at a time, and says
/// what came of it.
///
/// | line | answer |
/// |---|---|
/// | `open PATH` | SQLite's result code |
/// | `run SQL` | the result code and the first column of the last row |
/// | `count N SQL` | how often of N times it succeeded |
/// | `date` | milliseconds since 1970, as Foundation sees it |
/// | `wait` | the milliseconds that a wait of 20 ms with Foundation took |
/// | `each N SQL` | a line for each time that it succeeded, and `done` |
/// | `watch PATH` | 0, or the error number of inotify; the watch stays |
/// | `lost` | 1 when news of the watch were lost |
/// | `descriptor` | 0, or the error number of open |
/// | `thread` | 0, or the error number of pthread_create |
/// | `point NAME` | `passed`, when the process is still there |
package enum FaultProbe {
  /// The first argument of the hidden role.
  package static let option = "--fault-probe"

  /// Runs the program; the arguments are the control file and the place.
  package static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 2, let place = Int(arguments[1]) else { return 2 }
    do {
      try FaultWorker.install(control: arguments[0], place: place, isDefault: false)
    } catch {
      say("\(error)")
      return 3
    }
    say("ready")
    var state = State()
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      say(answer(words.first ?? "", words.count > 1 ? words[1] : "", &state))
    }
    if let connection = state.connection { fault_connection_close(connection) }
    return 0
  }

  private struct State {
    var connection: OpaquePointer?
    var watch: CInt = -1
  }

  private static func answer(
    _ word: String, _ rest: String, _ state: inout State
  ) -> String {
    switch word {
    case "open":
      if let open = state.connection { fault_connection_close(open) }
      state.connection = nil
      return "\(fault_connection_open(rest, &state.connection))"
    case "run":
      var value: Int64 = -1
      let code = fault_connection_run(state.connection, rest, &value)
      return "\(code) \(value)"
    case "count", "each":
      let parts = rest.split(separator: " ", maxSplits: 1)
      var count = 0
      for _ in 0..<(parts.first.flatMap { Int($0) } ?? 0)
      where fault_connection_run(state.connection, String(parts[1]), nil) == 0 {
        count += 1
        if word == "each" { say("\(count)") }
      }
      return word == "each" ? "done" : "\(count)"
    case "date": return "\(Int64(Date().timeIntervalSince1970 * 1000))"
    case "wait": return "\(milliseconds { Self.waitShortly() })"
    case "watch":
      state.watch = fault_watch_open(rest)
      return "\(max(0, -state.watch))"
    case "lost": return "\(fault_watch_overflowed(state.watch))"
    case "descriptor":
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      defer { if descriptor >= 0 { close(descriptor) } }
      return "\(descriptor < 0 ? errno : 0)"
    case "thread":
      var thread = pthread_t()
      let code = pthread_create(&thread, nil, { _ in nil }, nil)
      if code == 0 { pthread_join(thread, nil) }
      return "\(code)"
    case "point":
      if let point = FaultPoint(rawValue: rest) { FaultPoint.reach(point) }
      return "passed"
    default: return "unknown"
    }
  }

  /// Until a moment of the day, as most waits with a bound are.
  private static func waitShortly() {
    let condition = NSCondition()
    condition.lock()
    _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02))
    condition.unlock()
  }

  private static func milliseconds(_ body: () -> Void) -> Int {
    let clock = ContinuousClock()
    return Int(clock.measure(body) / .milliseconds(1))
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}
