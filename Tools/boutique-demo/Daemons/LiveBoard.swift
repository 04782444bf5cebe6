import CommandLineSupport
import Foundation
import Glibc
import Synchronization

/// The reporter's table, drawn in place on a terminal; elsewhere a plain line a second.
///
/// Values come faster than anybody can read, so at most 25 a second are drawn; a thread of its own draws
/// the newest when its time has come. The lock keeps frames whole.
final class LiveBoard: Sendable {
  private static let frameInterval: Int64 = 40_000_000
  private static let lineInterval: Int64 = 1_000_000_000

  private struct State {
    var totals: [KindTotal] = []
    var commits = 0
    var refreshes = 0
    var isDirty = false
    var isFinished = false
    var lastShown: Int64 = 0
    /// How many lines of the last frame stand above the cursor.
    var drawnLines = 0
  }

  private let title: String
  private let fileCount: Int
  private let start = Clock.monotonic()
  private let isTerminal: Bool
  private let output = TextOutput(fileDescriptor: STDOUT_FILENO)
  private let state = Mutex(State())

  init(title: String, fileCount: Int) {
    self.title = title
    self.fileCount = fileCount
    isTerminal = isatty(STDOUT_FILENO) == 1
    let interval = isTerminal ? Self.frameInterval : Self.lineInterval
    _ = DetachedThread.start { [weak self] in
      while let self, self.drawIfDue(interval) {
        usleep(useconds_t(Self.frameInterval / 4000))
      }
    }
  }

  /// Takes a new value.
  func show(_ totals: [KindTotal], commits: Int, refreshes: Int) {
    state.withLock { state in
      state.totals = totals
      state.commits = commits
      state.refreshes = refreshes
      state.isDirty = true
    }
  }

  /// Draws the last value; nothing is drawn afterwards.
  func finish() {
    state.withLock { state in
      if state.isFinished { return }
      state.isFinished = true
      draw(&state, isLast: true)
    }
  }

  /// Returns whether there will be more to draw.
  private func drawIfDue(_ interval: Int64) -> Bool {
    state.withLock { state in
      if state.isFinished { return false }
      let now = Clock.monotonic()
      if state.isDirty, now - state.lastShown >= interval {
        state.lastShown = now
        state.isDirty = false
        draw(&state, isLast: false)
      }
      return true
    }
  }

  private func draw(_ state: inout State, isLast: Bool) {
    let style = TerminalStyle.detect(
      fileDescriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    let text: String
    if isTerminal {
      let height = max(4, (style.rows ?? 24) - 1)
      let head = headline(state).truncated(toWidth: max(1, (style.columns ?? 80) - 1))
      var lines = [style.paint(head, .bold)] + table(state, style)
      if lines.count > height {
        lines = Array(lines.prefix(height - 1)) + [style.paint("…", .dim)]
      }
      // Back to the first line of the last frame; what a longer one left behind is erased.
      let back = state.drawnLines > 0 ? "\u{1B}[\(state.drawnLines)A\r" : ""
      text = back + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
      state.drawnLines = lines.count
    } else {
      let lines = [headline(state)] + (isLast ? table(state, style) : [])
      text = lines.joined(separator: "\n") + "\n"
    }
    // Nobody is there to see it: that is no reason to stop observing.
    try? output.write(text)
    try? output.flush()
  }

  private func headline(_ state: State) -> String {
    let files = state.totals.filter { $0.kind != FileKind.stale }.reduce(0) { $0 + $1.files }
    let tenths = (Clock.monotonic() - start) / 100_000_000
    let refreshes = state.refreshes == 1 ? "refresh" : "refreshes"
    return "\(tenths / 10).\(tenths % 10) s".leftPadded(7)
      + "  \(Figures.count(files)) of \(Figures.count(fileCount)) files"
      + "  \(Figures.many(state.commits, "commit")) in \(Figures.count(state.refreshes)) \(refreshes)"
  }

  private func table(_ state: State, _ style: TerminalStyle) -> [String] {
    var table = TextTable(titles: ["kind", "files", "bytes", "largest", "which is"])
    let sorted = state.totals.sorted { ($0.files, $1.kind) > ($1.files, $0.kind) }
    for total in sorted {
      let isStale = total.kind == FileKind.stale
      table.append([
        .text(total.kind), .number(Figures.count(total.files)),
        .number(isStale ? "" : Figures.bytes(total.bytes)),
        .number(isStale ? "" : Figures.bytes(total.largestSize)),
        .text(isStale ? "deleted by the sqlite3 shell" : total.largest.shown),
      ])
    }
    var narrow = style
    narrow.columns = style.columns.map { $0 - 1 }
    return table.lines(narrow)
  }
}

extension String {
  fileprivate func leftPadded(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - displayWidth)) + self
  }
}
