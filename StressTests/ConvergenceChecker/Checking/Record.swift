/// What a run has seen so far.
actor Record {
  /// What somebody has seen at a counter.
  private struct Moment {
    var hash: String
    var process: String
  }

  private struct MomentKey: Hashable {
    var sql: [String]
    var counter: Int64
  }

  private let scenario: Scenario
  private var moments: [MomentKey: Moment] = [:]
  private(set) var committed: Set<String> = []
  private(set) var refused: Set<String> = []
  /// The operations that have ended, well or not.
  private(set) var ended: Set<Int> = []
  private(set) var report: RunReport
  private(set) var round = 0

  init(scenario: Scenario) {
    self.scenario = scenario
    report = RunReport(seed: scenario.seed)
  }

  var hasFailed: Bool { !report.violations.isEmpty }

  /// Whether all writers have ended their work of the present round.
  private(set) var isWritingOver = false

  func begin(round: Int) {
    self.round = round
    isWritingOver = false
  }

  func endWriting() { isWritingOver = true }

  func endRound() { report.rounds = round + 1 }

  /// How many operations of the present round have ended.
  func endedInRound() -> Int {
    scenario.operations.count { $0.round == round && ended.contains($0.id) }
  }

  func noteKill() { report.kills += 1 }

  func add(_ check: Check, _ process: String, _ text: String) {
    // One fault shows in many values; what is told must stay readable.
    guard report.violations.count(where: { $0.check == check && $0.round == round }) < 5 else {
      return
    }
    report.violations.append(
      Violation(check: check, round: round, process: process, text: text))
  }

  func take(_ event: Event, from process: String) {
    switch event.kind {
    case .committed:
      if let operation = event.operation { ended.insert(operation) }
      if let entry = event.entry { committed.insert(entry) }
      report.commits += 1
      if let sample = event.sample { take([sample], from: process) }
    case .refused:
      if let operation = event.operation { ended.insert(operation) }
      if let entry = event.entry { refused.insert(entry) }
      report.refusals += 1
      if let text = event.text, text.contains("malformed") || text.contains("corrupt") {
        add(.integrity, process, text)
      }
    case .ended:
      if let operation = event.operation { ended.insert(operation) }
    case .violation: add(event.check ?? .error, process, event.text ?? "")
    case .failed: add(.error, process, event.text ?? "")
    case .ready, .done: break
    }
  }

  /// Compares what was seen with what others have seen at the same counter.
  func take(_ samples: [Sample], from process: String) {
    for sample in samples {
      guard let query = scenario.queries.first(where: { $0.id == sample.query }) else { continue }
      let key = MomentKey(sql: query.sql, counter: sample.counter)
      guard let known = moments[key] else {
        moments[key] = Moment(hash: sample.hash, process: process)
        continue
      }
      report.comparedMoments += 1
      if known.hash != sample.hash {
        add(
          .moment, process,
          "at counter \(sample.counter) \(process) and \(known.process) saw different answers of "
            + "query \(sample.query): \(query.sql.joined(separator: " → "))")
      }
    }
  }

  func note(deliveries: Int, changes: Int, everythings: Int) {
    report.deliveries = deliveries
    report.changes = changes
    report.everythings = everythings
  }
}
