import Foundation
import Glibc

/// The terminal, drawn over in place; or any other output, to which each board is added.
struct Screen {
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  func open() {
    // Another screen, so that the shell's comes back as it was, and no cursor.
    if isTerminal { write("\u{1B}[?1049h\u{1B}[?25l") }
  }

  func close() {
    if isTerminal { write("\u{1B}[?25h\u{1B}[?1049l") }
  }

  func draw(_ lines: [String]) {
    guard isTerminal else { return write(lines.joined(separator: "\n") + "\n\n") }
    // Each line erases its own rest and the end the lines below: nothing flickers.
    let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
    write("\u{1B}[H" + text + "\u{1B}[J")
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
