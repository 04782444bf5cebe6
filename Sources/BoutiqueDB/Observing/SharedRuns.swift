// One run for all who ask the same.
//
// For: a thousand live queries with the same statement cost one query per change, not a thousand.
//
// Invariants
//  1. Who asks gets a value of a snapshot that was taken after everything it has to know of. The order is a
//     clock of ticks: a change, and the beginning of listening, are events; a run begins, before its
//     snapshot. A run that began after the last event that was there when somebody asked is new enough.
//  2. Ticks are taken after the commit (events) and before the snapshot (runs), so a commit that the order
//     puts before a run is in its snapshot. The reverse need not hold, and costs a run.
//  3. Equal means: the same text, the same values to the bit, and the same types of what is read.
//
// Steps: ask (notes the last event) → on a reader's thread, with the statement made: join a run that began
// after it, or take the value of one that has ended, or begin one → at its end all who joined are told.
//
// A value is kept while anybody's question is open, and no longer.

import StructuredQueries
import Synchronization

/// What tells one question from another.
struct RunKey: Hashable, Sendable {
  private let types: [ObjectIdentifier]
  // Bytes, since Swift takes texts for equal whose accents are encoded differently, and SQLite does not.
  private let text: [UInt8]

  /// - Parameters:
  ///   - types: of the rows and of the value.
  /// - Returns: nil when a value cannot be bound; running it will say why.
  init?(_ query: SQLFragment, types: [ObjectIdentifier]) {
    var text = Array(query.sql.utf8)
    func append(_ tag: UInt8, _ bytes: some Collection<UInt8>) {
      text.append(tag)
      withUnsafeBytes(of: bytes.count) { text.append(contentsOf: $0) }
      text.append(contentsOf: bytes)
    }
    do {
      try query.forEachBinding { value in
        switch value {
        case .null: append(0, [])
        case .integer(let value): append(1, withUnsafeBytes(of: value, Array.init))
        case .real(let value): append(2, withUnsafeBytes(of: value.bitPattern, Array.init))
        case .text(let value): append(3, value.utf8)
        case .blob(let bytes): append(4, bytes)
        }
      }
    } catch {
      return nil
    }
    self.types = types
    self.text = text
  }
}

/// The runs of one open database that others may share.
final class SharedRuns: Sendable {
  /// A value and the snapshot it was read in.
  typealias Answer = Result<(value: any Sendable, snapshot: Snapshot), any Error>

  /// The leader of a run was cancelled; who joined it has to ask again.
  struct Abandoned: Error {}

  /// How somebody gets an answer.
  enum Role {
    /// By running the query, and saying so with `finish`.
    case leads(Int)
    /// From another's run, at once or later.
    case follows
  }

  private enum Progress: Sendable {
    case running(followers: [@Sendable (Answer) -> Void])
    case ended(value: any Sendable, Snapshot)
  }

  private struct State: Sendable {
    var clock = 0
    var lastEvent = 0
    /// How many questions are open.
    var open = 0
    /// The newest run of each question, with its tick.
    var runs: [RunKey: (tick: Int, progress: Progress)] = [:]
  }

  /// Values of more questions than these are not kept.
  private static let limit = 4096

  private let state = Mutex(State())

  /// Notes that something was committed, or that listening begins.
  func noteEvent() {
    state.withLock { state in
      state.clock += 1
      state.lastEvent = state.clock
    }
  }

  /// Opens a question.
  ///
  /// - Parameter isFresh: whether only a run that begins from now on will do.
  /// - Returns: the tick that a run has to be later than.
  func ask(isFresh: Bool) -> Int {
    state.withLock { state in
      state.open += 1
      guard isFresh else { return state.lastEvent }
      state.clock += 1
      return state.clock
    }
  }

  /// Keeps the answers until `close`, so that all whom one change concerns can share.
  func hold() { state.withLock { $0.open += 1 } }

  /// Closes a question.
  func close() {
    state.withLock { state in
      state.open -= 1
      if state.open == 0 || state.runs.count > Self.limit {
        state.runs = state.runs.filter {
          if case .running = $0.value.progress { true } else { false }
        }
      }
    }
  }

  /// Finds a run that answers a question.
  ///
  /// - Parameter answer: called with another's answer, before this returns or later.
  func join(
    _ key: RunKey, asked: Int, answer: @escaping @Sendable (Answer) -> Void
  ) -> Role {
    let (role, now) = state.withLock { state -> (Role, Answer?) in
      if let run = state.runs[key], run.tick > asked {
        switch run.progress {
        case .running(let followers):
          state.runs[key]?.progress = .running(followers: followers + [answer])
          return (.follows, nil)
        case .ended(let value, let snapshot): return (.follows, .success((value, snapshot)))
        }
      }
      state.clock += 1
      // Whoever follows a run that is replaced here is told by its leader all the same.
      let orphans: [@Sendable (Answer) -> Void] =
        if case .running(let followers)? = state.runs[key]?.progress { followers } else { [] }
      state.runs[key] = (state.clock, .running(followers: orphans))
      return (.leads(state.clock), nil)
    }
    if let now { answer(now) }
    return role
  }

  /// Ends a run that this caller leads.
  func finish(_ key: RunKey, tick: Int, _ answer: Answer) {
    let followers = state.withLock { state -> [@Sendable (Answer) -> Void] in
      // Replaced by a later one, which has taken its followers over.
      guard let run = state.runs[key], run.tick == tick,
        case .running(let followers) = run.progress
      else { return [] }
      if case .success(let (value, snapshot)) = answer {
        state.runs[key]?.progress = .ended(value: value, snapshot)
      } else {
        state.runs[key] = nil
      }
      return followers
    }
    var answer = answer
    if case .failure(let error) = answer, error is CancellationError {
      answer = .failure(Abandoned())
    }
    for follower in followers { follower(answer) }
  }
}
