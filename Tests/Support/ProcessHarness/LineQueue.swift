/// The lines that a child wrote and nobody took yet, and who waits for which.
///
/// A waiter takes the first line that it wants and leaves the others for other waiters, so a test can
/// follow several streams of events (acknowledgements, values) of one child apart. Pure: each event
/// returns the resumptions to perform, and the owner performs them outside its lock.
struct LineQueue {
  /// What a wait came to.
  enum Outcome: Sendable {
    case line(OutputLine)
    case ended(ExitStatus)
    case timedOut
    case cancelled
  }

  /// Someone who waits for a line, or for the end when `wants` is nil.
  struct Waiter {
    let number: UInt64
    let wants: (@Sendable (OutputLine) -> Bool)?
    let continuation: CheckedContinuation<Outcome, Never>
  }

  /// A continuation and what to resume it with.
  struct Resumption {
    let continuation: CheckedContinuation<Outcome, Never>
    let outcome: Outcome

    func perform() { continuation.resume(returning: outcome) }
  }

  /// Lines in the order of their arrival.
  private(set) var lines: [OutputLine] = []
  /// Set once, when the child is gone and everything it wrote has arrived.
  private(set) var end: ExitStatus?
  private var waiters: [Waiter] = []

  mutating func arrive(_ line: OutputLine) -> Resumption? {
    guard let index = waiters.firstIndex(where: { $0.wants?(line) ?? false }) else {
      lines.append(line)
      return nil
    }
    return Resumption(
      continuation: waiters.remove(at: index).continuation, outcome: .line(line))
  }

  mutating func finish(_ status: ExitStatus) -> [Resumption] {
    end = status
    defer { waiters = [] }
    return waiters.map { Resumption(continuation: $0.continuation, outcome: .ended(status)) }
  }

  mutating func wait(_ waiter: Waiter) -> Resumption? {
    if let wants = waiter.wants, let line = take(wants) {
      return Resumption(continuation: waiter.continuation, outcome: .line(line))
    }
    if let end { return Resumption(continuation: waiter.continuation, outcome: .ended(end)) }
    waiters.append(waiter)
    return nil
  }

  mutating func giveUp(_ number: UInt64, as outcome: Outcome) -> Resumption? {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
    return Resumption(
      continuation: waiters.remove(at: index).continuation, outcome: outcome)
  }

  /// Removes and returns the first line wanted.
  mutating func take(_ wants: (OutputLine) -> Bool) -> OutputLine? {
    lines.firstIndex(where: wants).map { lines.remove(at: $0) }
  }

  /// Removes and returns every line wanted that has arrived, in order.
  mutating func takeAll(_ wants: (OutputLine) -> Bool) -> [OutputLine] {
    let taken = lines.filter(wants)
    lines.removeAll(where: wants)
    return taken
  }
}
