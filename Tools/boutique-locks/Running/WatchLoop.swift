import CommandLineSupport
import Glibc
import LockInspection
import Synchronization

/// `--watch`: looks again and again until a signal ends it.
///
/// On a terminal the screen is drawn anew at each look; elsewhere a result is written when something
/// besides times has changed.
enum WatchLoop {
  static let signals = StopSignals.ending + FullScreen.signals

  static func run(
    _ inspector: Inspector, _ settings: LocksCommand.Settings, _ context: LocksContext
  ) throws -> Int32 {
    var inspector = inspector
    let isFullScreen = context.style.isTerminal && settings.form != .json
    let screen = isFullScreen ? FullScreen(context.output, environment: context.environment) : nil
    let stop = StopSignals(others: FullScreen.signals) { signal in
      if let screen {
        screen.take(signal)
      } else if signal == SIGTSTP {
        kill(getpid(), SIGSTOP)
      }
    }
    defer { screen?.leave() }
    var last: Inspection?
    repeat {
      let inspection = inspector.inspect()
      if let screen {
        try screen.show { style in frame(inspection, settings, style) }
      } else if last?.withoutTimes != inspection.withoutTimes {
        var lines = LocksCommand.lines(inspection, settings.form, context.style)
        if settings.form != .json { lines.insert("-- \(inspection.time)", at: 0) }
        try context.output.write(lines.joined(separator: "\n") + "\n")
        try context.output.flush()
      }
      last = inspection
    } while !stop.wait(for: settings.interval)
    return last?.exitStatus ?? 0
  }

  private static func frame(
    _ inspection: Inspection, _ settings: LocksCommand.Settings, _ style: TerminalStyle
  ) -> [String] {
    let width = style.columns ?? 80
    let name = LocksCommand.name
    let facts =
      "\(Wording.count(inspection.databases.count, "database"))  \(ClockText.local(ClockText.now))"
    let space = String(repeating: " ", count: max(2, width - name.count - facts.count))
    let head = style.paint((name + space + facts).truncated(toWidth: width), .dim)
    return [head, ""] + LocksCommand.lines(inspection, settings.form, style)
  }
}
