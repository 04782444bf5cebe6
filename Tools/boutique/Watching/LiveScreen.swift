import BoutiqueDB
import CommandLineSupport
import Glibc
import Synchronization

/// The full-screen table of `boutique watch`: drawn again for each value and each change of the
/// window's size, on the terminal's second screen.
///
/// Values come from the command's task, signals from the signal thread; the lock keeps frames whole
/// and in order.
final class LiveScreen: Sendable {
  /// More rows than any terminal shows at once.
  static let rowLimit = 1000

  /// What ``take(_:)`` follows.
  static let signals = [SIGWINCH, SIGTSTP]

  private struct State {
    var result: WatchedResult?
    var number = 0
    var time: Int64 = 0
    /// Why the value shown is not the newest.
    var trouble: String?
    var isShown = false
  }

  private let title: String
  private let output: TextOutput
  private let environment: [String: String]
  private let state = Mutex(State())

  init(title: String, _ context: CommandContext) {
    self.title = title.split(whereSeparator: \.isWhitespace).joined(separator: " ").visible()
    output = context.output
    environment = context.environment
  }

  /// Shows a new value.
  func show(_ result: WatchedResult, number: Int) throws {
    try update { state in
      state.result = result
      state.number = number
      state.time = ClockText.now
      state.trouble = nil
    }
  }

  /// Shows under the last value why there is no newer one.
  func show(_ error: BoutiqueError) throws {
    try update { $0.trouble = error.description }
  }

  private func update(_ change: (inout State) -> Void) throws {
    try state.withLock { state in
      change(&state)
      if !state.isShown { try output.write(AlternateScreen.enter) }
      state.isShown = true
      try draw(state)
    }
  }

  /// Gives the terminal back.
  func leave() {
    state.withLock { state in
      guard state.isShown else { return }
      state.isShown = false
      // A terminal that has gone needs nothing given back.
      try? output.write(AlternateScreen.leave)
      try? output.flush()
    }
  }

  /// Follows a new window size, and Ctrl-Z: the terminal is given back before the process stops and
  /// taken again when it goes on.
  func take(_ signal: Int32) {
    if signal == SIGTSTP {
      leave()
      kill(getpid(), SIGSTOP)
    }
    state.withLock { state in
      guard state.result != nil, state.isShown || signal == SIGTSTP else { return }
      if !state.isShown { try? output.write(AlternateScreen.enter) }
      state.isShown = true
      try? draw(state)
    }
  }

  private func draw(_ state: State) throws {
    guard let result = state.result else { return }
    let style = TerminalStyle.detect(fileDescriptor: STDOUT_FILENO, environment: environment)
    let width = style.columns ?? 80
    let height = style.rows ?? 24
    let facts =
      "\(result.total) row\(result.total == 1 ? "" : "s")  "
      + "change \(state.number)  \(ClockText.local(state.time))"
    let space = max(0, width - facts.displayWidth - 2)
    let head = title.truncated(toWidth: space)
    let padding = String(
      repeating: " ", count: max(2, width - head.displayWidth - facts.displayWidth))
    let first = style.paint((head + padding + facts).truncated(toWidth: width), .dim)

    let layout = TableLayout(
      titles: result.columns, sample: result.rows.map { $0.map(\.tableCell) }, width: width)
    let room = max(0, height - 4)
    let fits = result.total <= room
    let shown = result.rows.prefix(fits ? room : max(0, room - 1))
    let trouble = (state.trouble ?? "").visible(upToWidth: width).truncated(toWidth: width)
    var lines = [first, style.paint(trouble, .red)] + layout.header(style)
    lines += shown.map { layout.line($0.map(\.tableCell), style) }
    if !fits {
      lines.append(style.paint("… and \(result.total - shown.count) more rows", .dim))
    }
    try output.write(AlternateScreen.frame(lines, rows: height))
    try output.flush()
  }
}
