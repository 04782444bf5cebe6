import Synchronization

// What is kept of live queries between their runs, so that a change costs what it changed.
//
// Invariants
//  1. A kept result is that of one snapshot, of which the place in the log is known exactly: the token of its
//     newest commit, and the change counter, by which commits are noticed that are not in the log.
//  2. It is brought to a later snapshot only with the whole log in between, read in that snapshot, without a
//     gap, without foreign commits, without a change of the schema; else the query runs again.
//  3. Whoever works on it has taken it out of its box, so it is in one thread's hands; who finds the box empty
//     runs the query.
//
// When a run dies, is cancelled or fails, what it had taken out is gone, and the next one runs the query.

/// A result that can be brought up to date.
protocol KeptContent: AnyObject, Sendable {
  /// Of which moment it is.
  var position: LogPosition { get }
}

/// What is kept for all live queries that ask the same.
///
/// They hold it; when the last one lets go, it is forgotten.
final class KeptBox: Sendable {
  private struct State: Sendable {
    var content: (any KeptContent)?
    /// The schema under which it turned out that nothing can be kept, or that it is not worth it.
    var refusedAt: Int64?
    var hasRun = false
  }

  private let state = Mutex(State())

  func take() -> (any KeptContent)? {
    state.withLock { state in
      defer { state.content = nil }
      return state.content
    }
  }

  /// Puts a result in, unless there is a newer one.
  func put(_ content: any KeptContent) {
    state.withLock { state in
      if let other = state.content, !other.position.isBefore(content.position) { return }
      state.content = content
      state.refusedAt = nil
    }
  }

  /// Whether this was asked before.
  func hasRunBefore() -> Bool {
    state.withLock { state in
      defer { state.hasRun = true }
      return state.hasRun
    }
  }

  func refuse(at schema: Int64?) { state.withLock { $0.refusedAt = schema } }

  func isRefused(at schema: Int64?) -> Bool {
    state.withLock { $0.refusedAt != nil && $0.refusedAt == schema }
  }
}

extension LogPosition {
  /// Whether it is an earlier moment than another one of the same file.
  func isBefore(_ other: LogPosition) -> Bool {
    if token != other.token { return token < other.token }
    guard let counter, let later = other.counter else { return false }
    return later.isAhead(of: counter)
  }
}

/// The boxes of one open database.
final class KeptResults: Sendable {
  private struct Weak: Sendable {
    weak var box: KeptBox?
  }

  private struct State: Sendable {
    var boxes: [RunKey: Weak] = [:]
    /// At so many the dead ones are thrown away.
    var limit = 64
  }

  private let state = Mutex(State())
  /// A list is kept from this many rows on, if its query is not slow.
  let minimumCount = Atomic(64)
  /// How often a kept result was brought up to date, and how often a query ran that could be kept.
  let steps = Atomic(0)
  /// How often a statement's query ran as a whole.
  let runs = Atomic(0)

  func box(for key: RunKey) -> KeptBox {
    state.withLock { state in
      if let box = state.boxes[key]?.box { return box }
      if state.boxes.count >= state.limit {
        state.boxes = state.boxes.filter { $0.value.box != nil }
        state.limit = max(64, 2 * state.boxes.count)
      }
      let box = KeptBox()
      state.boxes[key] = Weak(box: box)
      return box
    }
  }
}

extension BoutiqueDB {
  /// How often live queries of statements were brought up to date by their changed rows, and how often they
  /// ran as a whole.
  package var liveQueryWork: (steps: Int, runs: Int) {
    let kept = core.hub.kept
    return (kept.steps.load(ordering: .relaxed), kept.runs.load(ordering: .relaxed))
  }

  /// From how many rows on a result is kept whose query is fast.
  package func keepResults(from count: Int) {
    core.hub.kept.minimumCount.store(count, ordering: .relaxed)
  }
}
