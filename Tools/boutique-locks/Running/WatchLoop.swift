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
        var lines = lines(inspection, settings, context.style)
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
    var lines = [head, ""]
    for line in Self.lines(inspection, settings, style) {
      // Coloured lines have been made to fit; what is left are words without a place to break.
      lines.append(line.contains("\u{1B}") ? line : line.truncated(toWidth: width))
    }
    let rows = style.rows ?? 24
    if lines.count > rows {
      let hidden = lines.count - rows + 1
      lines = lines.prefix(rows - 1) + [style.paint("… and \(hidden) more lines", .dim)]
    }
    return lines
  }

  /// The result with what could not be looked at, which is nowhere else to be read while this goes on.
  private static func lines(
    _ inspection: Inspection, _ settings: LocksCommand.Settings, _ style: TerminalStyle
  ) -> [String] {
    let lines = LocksCommand.lines(inspection, settings.form, style)
    guard inspection.exitStatus == 2, settings.form != .json else { return lines }
    return lines + UnseenText.lines(inspection.unseen, style, width: style.columns ?? 80)
  }
}
