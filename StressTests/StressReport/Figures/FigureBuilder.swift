import StressFaults
import StressHistory

/// Works out a run's figures in one pass over its history.
///
/// Each operation and each sample is looked at once and kept nowhere: what grows is a histogram of each slot
/// of the time axis, and of those there are at most ``slotLimit``.
struct FigureBuilder {
  /// More would be narrower than a drawing can show.
  static let slotLimit = 160

  private struct SlotState {
    var outcomes = OutcomeCounts()
    var latency = LogHistogram()
    var lockWait = LogHistogram()
    var refresh = LogHistogram()
    var logBytes: Int64?
  }

  private struct ProcessState {
    var outcomes = OutcomeCounts()
    var lockWait = LogHistogram()
  }

  private struct KindState {
    var outcomes = OutcomeCounts()
    var latency = LogHistogram()
  }

  private let began: Int64
  private let slotLength: Int64
  private var figures = RunFigures()
  private var slots: [SlotState]
  private var kinds: [String: KindState] = [:]
  private var processes: [Int: ProcessState] = [:]
  private var troubles: [String: Int] = [:]

  /// Begins for a run between two moments of the monotonic clock.
  init(began: Int64, ended: Int64) {
    self.began = began
    let length = max(1, ended.minus(began))
    slotLength = Self.slotLength(for: length)
    slots = Array(repeating: SlotState(), count: Int((length - 1) / slotLength) + 1)
    figures.seconds = Double(length) / 1e9
    figures.slotSeconds = Double(slotLength) / 1e9
  }

  /// A round length of time, at least a tenth of a second, of which the limit covers the run.
  static func slotLength(for length: Int64) -> Int64 {
    let tenth: Int64 = 100_000_000
    for tenths in [1, 2, 5, 10, 20, 50, 100, 150, 300, 600, 1200, 3000, 6000, 18_000, 36_000] {
      let slot = Int64(tenths) * tenth
      if length <= slot * Int64(slotLimit) { return slot }
    }
    return length / Int64(slotLimit) + 1
  }

  private func slot(at time: Int64) -> Int {
    min(slots.count - 1, max(0, Int(time.minus(began) / slotLength)))
  }

  mutating func add(_ operation: OperationRecord) {
    let slot = slot(at: operation.ended ?? operation.began)
    let outcome: WritableKeyPath<OutcomeCounts, Int> =
      switch operation.outcome {
      case .done: \.done
      case .refused: \.refused
      case .unknown: \.unknown
      }
    figures.outcomes[keyPath: outcome] += 1
    slots[slot].outcomes[keyPath: outcome] += 1
    kinds[operation.name, default: KindState()].outcomes[keyPath: outcome] += 1
    processes[operation.process, default: ProcessState()].outcomes[keyPath: outcome] += 1
    guard let ended = operation.ended, operation.outcome == .done else { return }
    let time = ended.minus(operation.began)
    figures.latency.add(time)
    slots[slot].latency.add(time)
    kinds[operation.name, default: KindState()].latency.add(time)
  }

  mutating func add(_ sample: Sample) {
    let slot = slot(at: sample.time)
    switch sample.kind {
    case .lockWait:
      figures.lockWait.add(sample.value)
      slots[slot].lockWait.add(sample.value)
      processes[sample.process, default: ProcessState()].lockWait.add(sample.value)
    case .refresh:
      figures.refresh.add(sample.value)
      slots[slot].refresh.add(sample.value)
    case .logBytes:
      figures.greatestLog = max(figures.greatestLog ?? 0, sample.value)
      slots[slot].logBytes = max(slots[slot].logBytes ?? 0, sample.value)
    }
  }

  mutating func add(_ note: Note) {
    if note.kind == .trouble { troubles[note.subject, default: 0] += 1 }
  }

  /// The figures.
  ///
  /// - Parameter places: the place of each start; those that it does not know stand for themselves.
  func built(places: [Int], faults: [FaultRecord]) -> RunFigures {
    var figures = figures
    figures.slots = slots.map { state in
      var slot = RunFigures.Slot()
      slot.outcomes = state.outcomes
      slot.latency = RunFigures.Quantiles(state.latency)
      slot.lockWait = RunFigures.Quantiles(state.lockWait)
      slot.refresh = RunFigures.Quantiles(state.refresh)
      slot.logBytes = state.logBytes
      return slot
    }
    figures.kinds = kinds.sorted { $0.key < $1.key }.map {
      RunFigures.Kind(
        name: $0.key, outcomes: $0.value.outcomes,
        latency: RunFigures.Quantiles($0.value.latency))
    }
    figures.places = byPlace(places)
    figures.faults = FaultKind.allCases.compactMap { kind in
      let records = faults.filter { $0.event.kind == kind }
      return records.isEmpty
        ? nil
        : RunFigures.Faults(
          kind: kind, tried: records.count, struck: records.count { $0.didStrike })
    }
    figures.troubles = troubles.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { RunFigures.Trouble(subject: $0.key, count: $0.value) }
    return figures
  }

  private func byPlace(_ places: [Int]) -> [RunFigures.Place] {
    var states: [Int: (starts: Int, state: ProcessState)] = [:]
    // A start that did nothing is one all the same: that is what unfair looks like.
    for start in Set(processes.keys).union(places.indices) {
      let process = processes[start] ?? ProcessState()
      let place = places.indices.contains(start) ? places[start] : start
      var entry = states[place] ?? (0, ProcessState())
      entry.starts += 1
      entry.state.outcomes.done += process.outcomes.done
      entry.state.outcomes.refused += process.outcomes.refused
      entry.state.outcomes.unknown += process.outcomes.unknown
      entry.state.lockWait.add(process.lockWait)
      states[place] = entry
    }
    return states.sorted { $0.key < $1.key }.map {
      RunFigures.Place(
        number: $0.key, starts: $0.value.starts, outcomes: $0.value.state.outcomes,
        lockWait: RunFigures.Quantiles($0.value.state.lockWait))
    }
  }
}

extension RunFigures {
  /// Works out what a run's history comes to.
  package init(_ result: RunResult) {
    var builder = FigureBuilder(began: result.began, ended: result.ended)
    for operation in result.history.operations { builder.add(operation) }
    for sample in result.history.samples { builder.add(sample) }
    for note in result.history.notes { builder.add(note) }
    self = builder.built(places: result.places, faults: result.faults)
  }
}
