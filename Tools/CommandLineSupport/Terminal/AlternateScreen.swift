/// The second screen of a terminal, which full-screen programs draw on so that what was there
/// before is there again afterwards.
package enum AlternateScreen {
  /// Switches to the second screen and hides the cursor.
  package static let enter = "\u{1B}[?1049h\u{1B}[?25l"

  /// Shows the cursor and switches back.
  package static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  /// Text that replaces the whole screen by these lines.
  ///
  /// Each line is erased just before it is drawn: erasing behind it would take the last character
  /// of a line that fills the screen's width, on which the cursor still stands.
  package static func frame(_ lines: [String], rows: Int) -> String {
    let shown = lines.prefix(max(1, rows)).map { "\u{1B}[2K" + $0 }
    let below = lines.count < rows ? "\n\u{1B}[J" : ""
    return "\u{1B}[H" + shown.joined(separator: "\n") + below
  }
}
