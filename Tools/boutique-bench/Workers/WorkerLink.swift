import CommandLineSupport
import Glibc
import SharedFileCoordination
import Synchronization

/// A worker's side of its two pipes.
final class WorkerLink: Sendable {
  private struct State {
    var lines: [String] = []
    var waiter: CheckedContinuation<String, Never>?
    var expenseAtStart: Expense?
  }

  private let output = TextOutput(fileDescriptor: STDOUT_FILENO)
  private let state = Mutex(State())

  /// Begins to listen.
  ///
  /// The end of standard input means that the coordinator is gone: the process ends at once.
  init() {
    OwnThread.start { [self] in
      while let line = readLine() { take(line) }
      _exit(ExitStatus.failure.rawValue)
    }
  }

  /// Returns the next line from the coordinator.
  func nextLine() async -> String {
    await withCheckedContinuation { continuation in
      let line: String? = state.withLock { state in
        if !state.lines.isEmpty { return state.lines.removeFirst() }
        state.waiter = continuation
        return nil
      }
      if let line { continuation.resume(returning: line) }
    }
  }

  /// Tells the coordinator something.
  func tell(_ event: WorkerMessage.Event, _ figures: [String: [Int64]] = [:], text: String? = nil)
    throws
  {
    try output.write(try JSONLine.text(WorkerMessage(event: event, figures: figures, text: text)))
    try output.flush()
  }

  /// What the process had used when all began.
  var expenseAtStart: Expense? { state.withLock { $0.expenseAtStart } }

  /// Says that everything is open, and waits for the moment at which all begin.
  ///
  /// - Returns: that moment.
  func awaitStart() async throws -> BootClock.Instant {
    try tell(.ready)
    let words = await nextLine().split(separator: " ")
    guard words.count == 2, words[0] == "start", let time = UInt64(words[1]) else {
      throw BenchFailure("“start” and a time expected, “\(words.joined(separator: " "))” came")
    }
    let start = BootClock.Instant(nanoseconds: time)
    try await OwnThread.run { Pause.until(start) }
    let expense = Expense.now()
    state.withLock { $0.expenseAtStart = expense }
    return start
  }

  private func take(_ line: String) {
    let waiter: CheckedContinuation<String, Never>? = state.withLock { state in
      guard let waiter = state.waiter else {
        state.lines.append(line)
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume(returning: line)
  }
}

/// Sleeping for a thread.
enum Pause {
  /// Blocks the thread until an instant.
  static func until(_ instant: BootClock.Instant) {
    while true {
      let left = BootClock.now().duration(to: instant).clampedNanoseconds
      if left <= 0 { return }
      nanoseconds(left)
    }
  }

  /// Blocks the thread for a while.
  static func nanoseconds(_ count: Int64) {
    var time = timespec(
      tv_sec: Int(count / 1_000_000_000), tv_nsec: Int(count % 1_000_000_000))
    var left = timespec()
    while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
  }
}
