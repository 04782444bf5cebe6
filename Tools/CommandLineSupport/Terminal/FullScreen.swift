import Glibc
import Synchronization

/// A full-screen view on the terminal's second screen: drawn again for each new content and each change of
/// the window's size.
///
/// Contents come from the program's own thread, signals from the signal thread; the lock keeps frames
/// whole and in order.
package final class FullScreen: Sendable {
  /// What ``take(_:)`` follows.
  package static let signals = [SIGWINCH, SIGTSTP]

  /// Makes the lines for a screen of some size.
  package typealias Content = @Sendable (TerminalStyle) -> [String]

  private struct State {
    var content: Content?
    var isShown = false
  }

  private let output: TextOutput
  private let environment: [String: String]
  private let state = Mutex(State())

  /// Makes a screen that is not shown yet.
  package init(_ output: TextOutput, environment: [String: String]) {
    self.output = output
    self.environment = environment
  }

  /// Shows a new content, in place of the last one.
  package func show(_ content: @escaping Content) throws {
    try state.withLock { state in
      state.content = content
      if !state.isShown { try output.write(AlternateScreen.enter) }
      state.isShown = true
      try draw(content)
    }
  }

  /// Gives the terminal back.
  package func leave() {
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
  package func take(_ signal: Int32) {
    if signal == SIGTSTP {
      leave()
      kill(getpid(), SIGSTOP)
    }
    state.withLock { state in
      guard let content = state.content, state.isShown || signal == SIGTSTP else { return }
      if !state.isShown { try? output.write(AlternateScreen.enter) }
      state.isShown = true
      try? draw(content)
    }
  }

  private func draw(_ content: Content) throws {
    let style = TerminalStyle.detect(fileDescriptor: STDOUT_FILENO, environment: environment)
    try output.write(AlternateScreen.frame(content(style), rows: style.rows ?? 24))
    try output.flush()
  }
}
