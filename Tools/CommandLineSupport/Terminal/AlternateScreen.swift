/// The second screen of a terminal, which full-screen programs draw on so that what was there
/// before is there again afterwards.
package enum AlternateScreen {
  /// Switches to the second screen and hides the cursor.
  package static let enter = "\u{1B}[?1049h\u{1B}[?25l"

  /// Shows the cursor and switches back.
  package static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  /// Text that replaces the whole screen by these lines without flicker: each line is drawn over
  /// the old one and what is left of the old one is erased behind it.
  package static func frame(_ lines: [String], rows: Int) -> String {
    let shown = lines.prefix(max(1, rows)).map { $0 + "\u{1B}[K" }
    return "\u{1B}[H" + shown.joined(separator: "\r\n") + "\u{1B}[J"
  }
}
