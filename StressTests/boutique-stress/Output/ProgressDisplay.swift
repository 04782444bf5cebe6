import CommandLineSupport
import Glibc
import StressHarness
import StressReport
import Synchronization

/// The progress line: drawn again in its place on a terminal, elsewhere a line every few seconds.
final class ProgressDisplay: Sendable {
  /// Between two lines where there is no terminal.
  private static let plainInterval = Duration.seconds(5)

  private struct State {
    var isDrawn = false
    var lastLine = ContinuousClock.now
    var last: (operations: Int, moment: ContinuousClock.Instant)?
    var rate: Double?
  }

  private let console: Console
  /// What is run, and how many runs there are: `counters (3 of 18)`.
  private let title: String
  private let state = Mutex(State())

  init(_ title: String, _ console: Console) {
    self.title = title
    self.console = console
  }

  /// Shows how far a run has come.
  func show(_ progress: RunProgress) {
    let now = ContinuousClock.now
    let text: String? = state.withLock { state in
      Self.updateRate(&state, progress, now)
      let line = Self.text(title, progress, rate: state.rate)
      let style = console.progressStyle
      if style.isTerminal {
        state.isDrawn = true
        return "\r" + line.truncated(toWidth: max(1, (style.columns ?? 80) - 1)) + "\u{1B}[K"
      }
      guard now - state.lastLine >= Self.plainInterval else { return nil }
      state.lastLine = now
      return line + "\n"
    }
    if let text { console.tell(text) }
  }

  /// Takes the line off a terminal.
  func clear() {
    let wasDrawn = state.withLock { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if wasDrawn { console.tell("\r\u{1B}[K") }
  }

  /// Half of the rate is that of the last look, so that it follows and does not jump.
  private static func updateRate(
    _ state: inout State, _ progress: RunProgress, _ now: ContinuousClock.Instant
  ) {
    if let last = state.last {
      let seconds = (now - last.moment).inSeconds
      guard seconds > 0.05 else { return }
      let rate = Double(max(0, progress.operations - last.operations)) / seconds
      state.rate = state.rate.map { ($0 + rate) / 2 } ?? rate
    }
    state.last = (progress.operations, now)
  }

  private static func text(_ title: String, _ progress: RunProgress, rate: Double?) -> String {
    var parts = [title]
    parts.append(
      FigureText.amount(progress.operations, "operation")
        + (rate.map { " (\(FigureText.short($0))/s)" } ?? ""))
    parts.append(FigureText.amount(progress.faults, "fault"))
    parts.append(FigureText.amount(progress.violations, "violation"))
    parts.append(
      progress.secondsLeft < 0
        ? "checking" : "\(FigureText.clock(progress.secondsLeft.rounded(.up))) left")
    return parts.joined(separator: "  ")
  }
}
