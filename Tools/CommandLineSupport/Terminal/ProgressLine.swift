import Synchronization

/// Shows how a long job gets on: one line that is drawn again on a terminal, a plain line now and
/// then elsewhere.
package final class ProgressLine: Sendable {
  private static let redrawInterval = Duration.milliseconds(100)
  private static let plainInterval = Duration.seconds(5)

  private struct State {
    var meter: ProgressMeter
    var lastShown: Duration?
    var isDrawn = false
  }

  private let style: TerminalStyle
  private let now: @Sendable () -> Duration
  private let write: @Sendable (String) -> Void
  private let state: Mutex<State>

  /// Starts the clock; `write` gets text for standard error, `now` is for tests.
  package init(
    unit: String, totalBytes: Int64?, style: TerminalStyle,
    now: (@Sendable () -> Duration)? = nil, write: @escaping @Sendable (String) -> Void
  ) {
    let start = ContinuousClock.now
    self.style = style
    self.now = now ?? { ContinuousClock.now - start }
    self.write = write
    state = Mutex(State(meter: ProgressMeter(unit: unit, totalBytes: totalBytes)))
  }

  /// Notes how much is done; cheap enough for every hundredth row.
  package func update(count: Int64, bytes: Int64) {
    let time = now()
    let text: String? = state.withLock { state in
      let interval = style.isTerminal ? Self.redrawInterval : Self.plainInterval
      // The first line too waits, so that a quick job says nothing.
      guard time - (state.lastShown ?? .zero) >= interval else { return nil }
      state.meter.update(count: count, bytes: bytes, elapsed: time)
      state.lastShown = time
      state.isDrawn = style.isTerminal
      let line = state.meter.text
      guard style.isTerminal else { return line + "\n" }
      return "\r" + line.truncated(toWidth: max(1, (style.columns ?? 80) - 1)) + "\u{1B}[K"
    }
    if let text { write(text) }
  }

  /// Takes the line off the terminal and returns what the whole job came to.
  package func finish(count: Int64, bytes: Int64) -> String {
    let time = now()
    let (wasDrawn, summary) = state.withLock { state in
      state.meter.update(count: count, bytes: bytes, elapsed: time)
      defer { state.isDrawn = false }
      return (state.isDrawn, state.meter.summary)
    }
    if wasDrawn { write("\r\u{1B}[K") }
    return summary
  }

  /// Takes the line off the terminal; for jobs that failed.
  package func clear() {
    let wasDrawn = state.withLock { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if wasDrawn { write("\r\u{1B}[K") }
  }
}
