import StressHistory
import StressReport
import Synchronization

/// What the live queries of a process show at this moment, and what was wrong with their values.
///
/// Used from any thread.
final class LiveBoard: Sendable {
  private struct Shown: Equatable {
    /// Values of cells by id; all cells, or one.
    var cells: [Int: Int]
    /// The newest commit in it.
    var stamp: Int64
  }

  /// How long nothing may move before what differs counts as missed: many polls, on a loaded machine.
  private static let patience: Int64 = 10_000_000_000

  private let worker: WorkerContext
  private let shown = Mutex<[String: Shown]>([:])
  private let told = Atomic(0)

  init(_ worker: WorkerContext) { self.worker = worker }

  /// Says what must be there at the end; an observer that never gives anything is a fault.
  func expect(_ observer: String) {
    shown.withLock { $0[observer] = $0[observer] ?? Shown(cells: [:], stamp: -1) }
  }

  /// Takes a value of an observer of all cells.
  func show(_ observer: String, _ cells: [LiveCell], counter: Int64? = nil) {
    if let text = LiveState.fault(of: cells, counter: counter) {
      violation("torn value", "\(observer): \(text)", seen: LiveState.seen(cells, counter: counter))
    }
    show(
      observer, Dictionary(cells.map { ($0.id, $0.value) }) { $1 },
      stamp: Int64(cells.map(\.stamp).max() ?? -1))
  }

  /// Takes a value of an observer of one cell.
  func show(_ observer: String, cell: LiveCell) {
    show(observer, [cell.id: cell.value], stamp: Int64(cell.stamp))
  }

  private func show(_ observer: String, _ cells: [Int: Int], stamp: Int64) {
    let before = shown.withLock { shown in
      defer { shown[observer] = Shown(cells: cells, stamp: stamp) }
      return shown[observer]?.stamp ?? -1
    }
    if stamp < before {
      violation(
        "backwards", "\(observer): commit \(stamp) was shown after commit \(before)",
        seen: [before, stamp].map { Step(.read, LiveState.key, .integer($0)) })
    }
  }

  /// Forgets what an observer has shown, since it begins anew.
  ///
  /// A power cut may have taken what it showed.
  func forget(_ observer: String) {
    shown.withLock { $0[observer] = Shown(cells: [:], stamp: -1) }
  }

  /// Notes that what a sequence gives is no news.
  func repeated(_ observer: String) {
    let stamp = shown.withLock { $0[observer]?.stamp ?? -1 }
    violation(
      "repetition", "\(observer): the same value was given twice",
      seen: [Step(.read, LiveState.key, .integer(stamp))])
  }

  func violation(_ check: String, _ text: String, seen: [Step]? = nil) {
    // One fault shows in many values.
    if told.add(1, ordering: .relaxed).newValue <= 20 {
      worker.log.note(.violation, check, text, seen: seen)
    }
  }

  func measure(_ kind: Sample.Kind, _ value: Int64) { worker.log.measure(kind, value) }

  /// Notes an error of an observer; without faults nobody may have one.
  func failed(_ observer: String, _ error: any Error) {
    if worker.run.plan.faults.isEmpty {
      violation("error", "\(observer): \(error)")
    } else {
      worker.log.note(.trouble, "live query", "\(observer): \(error)")
    }
  }

  /// Waits until all observers show what a fresh read gives, as long as anything moves.
  ///
  /// While others write it may never be so; but then something moves.
  ///
  /// - Parameters:
  ///   - moment: when, for people.
  ///   - isWanted: whether to go on waiting.
  func settle(
    _ moment: String, while isWanted: () async -> Bool = { true },
    read: () async throws -> LiveState
  ) async {
    var last: (LiveState?, [String: Shown]) = (nil, [:])
    var lastMove = HistoryLog.now()
    while await isWanted() {
      let fresh = try? await read()
      let shown = shown.withLock { $0 }
      if fresh != last.0 || shown != last.1 {
        last = (fresh, shown)
        lastMove = HistoryLog.now()
      }
      let behind = fresh.map { fresh in
        shown.filter { !$0.value.cells.allSatisfy { fresh.cells[safe: $0.key]?.value == $0.value } }
          .merging(shown.filter(\.value.cells.isEmpty)) { $1 }
      }
      if behind?.isEmpty == true { return }
      if HistoryLog.now() - lastMove > Self.patience {
        guard let fresh else { return violation("error", "\(moment) nothing can be read") }
        for (observer, shown) in (behind ?? [:]).sorted(by: { $0.key < $1.key }) {
          violation(
            "missed change",
            "\(moment) \(observer) shows commit \(shown.stamp), and the newest is \(fresh.counter)",
            seen: [Step(.read, LiveState.key, .integer(shown.stamp))])
        }
        return
      }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }
}
