import Glibc

/// What is known of the place where output goes: whether a person reads it, how wide it is, and
/// whether it may be coloured.
package struct TerminalStyle: Sendable, Equatable {
  /// A way to set text off.
  package enum Ink: String, Sendable {
    /// Titles.
    case bold = "1"
    /// What is there but matters little.
    case dim = "2"
    /// Faults.
    case red = "31"
    /// What is well.
    case green = "32"
    /// What needs a look.
    case yellow = "33"
    /// Names.
    case cyan = "36"
  }

  /// Whether output goes to a terminal.
  package var isTerminal: Bool

  /// Whether ``paint(_:_:)`` adds colour.
  package var usesColour: Bool

  /// The width in columns, nil when there is no limit.
  package var columns: Int?

  /// The height in lines, nil when there is no limit.
  package var rows: Int?

  /// A file or pipe: no limits, no colour.
  package static let plain = TerminalStyle(isTerminal: false, size: nil, environment: [:])

  /// Decides from facts about the terminal and the environment.
  ///
  /// `NO_COLOR` (any value but the empty one) and `TERM=dumb` turn colour off;
  /// `COLUMNS` and `LINES` come before the terminal's own size.
  package init(
    isTerminal: Bool, size: (columns: Int, rows: Int)?, environment: [String: String]
  ) {
    self.isTerminal = isTerminal
    let refusesColour = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    usesColour = isTerminal && !refusesColour && environment["TERM"] != "dumb"
    columns = Self.positive(environment["COLUMNS"]) ?? size?.columns ?? (isTerminal ? 80 : nil)
    rows = Self.positive(environment["LINES"]) ?? size?.rows ?? (isTerminal ? 24 : nil)
  }

  /// Looks at a descriptor of this process.
  package static func detect(
    fileDescriptor: Int32, environment: [String: String]
  ) -> TerminalStyle {
    let isTerminal = isatty(fileDescriptor) == 1
    return TerminalStyle(
      isTerminal: isTerminal, size: isTerminal ? size(of: fileDescriptor) : nil,
      environment: environment)
  }

  /// Sets text off, or returns it as it is when there is no colour.
  package func paint(_ text: String, _ ink: Ink) -> String {
    usesColour && !text.isEmpty ? "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m" : text
  }

  private static func positive(_ text: String?) -> Int? {
    text.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  private static func size(of fileDescriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
