import BoutiqueDB
import CommandLineSupport
import Synchronization

/// The full-screen table of `boutique watch`.
final class LiveScreen: Sendable {
  /// More rows than any terminal shows at once.
  static let rowLimit = 1000

  /// What ``take(_:)`` follows.
  static let signals = FullScreen.signals

  private struct State: Sendable {
    var result: WatchedResult?
    var number = 0
    var time: Int64 = 0
    /// Why the value shown is not the newest.
    var trouble: String?
  }

  private let title: String
  private let screen: FullScreen
  private let state = Mutex(State())

  init(title: String, _ context: CommandContext) {
    self.title = title.split(whereSeparator: \.isWhitespace).joined(separator: " ").visible()
    screen = FullScreen(context.output, environment: context.environment)
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
    let current = state.withLock { state -> State in
      change(&state)
      return state
    }
    let title = title
    try screen.show { style in Self.lines(current, title: title, style) }
  }

  /// Gives the terminal back.
  func leave() { screen.leave() }

  /// Follows a new window size, and Ctrl-Z.
  func take(_ signal: Int32) { screen.take(signal) }

  private static func lines(_ state: State, title: String, _ style: TerminalStyle) -> [String] {
    guard let result = state.result else { return [] }
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
    return lines
  }
}
