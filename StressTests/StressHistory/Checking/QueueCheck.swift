/// Whether each job was done once: taken by one worker at a time, finished once, and none lost.
///
/// The steps: `insert` of a job; `take` with the number of the attempt, from 1; `finish` with the same; `set`
/// with the number of the attempt that is given up, by who knows that its worker is dead. A giving up of unknown
/// outcome may have given up any job. O(n log n).
package enum QueueCheck {
  /// A job as it is when all have ended.
  package struct Job: Sendable, Hashable {
    package var attempts: Int64
    /// How many results there are.
    package var results: Int
    /// The attempt that the result is of.
    package var finishedBy: Int64?

    /// Describes a job.
    package init(attempts: Int64, results: Int, finishedBy: Int64? = nil) {
      self.attempts = attempts
      self.results = results
      self.finishedBy = finishedBy
    }
  }

  private struct Events {
    var inserts: [Int] = []
    /// By attempt.
    var takes: [Int64: [Int]] = [:]
    var finishes: [(attempt: Int64, operation: Int)] = []
    var releases: [Int64: [Int]] = [:]
  }

  /// Looks at the operations, in order of their beginnings.
  ///
  /// - Parameter final: the jobs when all had ended.
  package static func violations(
    _ operations: [OperationRecord], final: [String: Job]
  ) -> [Violation] {
    var found = Findings(operations)
    var jobs: [String: Events] = [:]
    var openReleases: [Int] = []
    var openTakes: [Int] = []
    for (index, operation) in operations.enumerated() where operation.outcome != .refused {
      if operation.outcome == .unknown, operation.name == "give up" { openReleases.append(index) }
      if operation.outcome == .unknown, operation.name == "take" { openTakes.append(index) }
      for step in operation.steps {
        switch (step.kind, step.value) {
        case (.insert, _): jobs[step.key, default: Events()].inserts.append(index)
        case (.take, .integer(let attempt)):
          jobs[step.key, default: Events()].takes[attempt, default: []].append(index)
        case (.finish, .integer(let attempt)):
          jobs[step.key, default: Events()].finishes.append((attempt, index))
        case (.set, .integer(let attempt)):
          jobs[step.key, default: Events()].releases[attempt, default: []].append(index)
        default: break
        }
      }
    }
    for (name, events) in jobs.sorted(by: { $0.key < $1.key }) {
      checkTakes(name, events, openReleases, operations, &found)
      let open = openTakes.count { mayHaveTaken($0, events, operations) }
      checkEnd(name, events, final[name], openTakes: open, operations, &found)
    }
    if let stranger = Set(final.keys).subtracting(jobs.keys).min() {
      found.add("phantom", "job \(stranger) is there, and nobody made it")
    }
    return found.violations
  }

  private static func checkTakes(
    _ name: String, _ events: Events, _ openReleases: [Int], _ operations: [OperationRecord],
    _ found: inout Findings
  ) {
    func isDone(_ operation: Int) -> Bool { operations[operation].outcome == .done }
    for (attempt, takers) in events.takes.sorted(by: { $0.key < $1.key }) {
      let takers = takers.filter(isDone)
      if takers.count > 1 {
        found.add(
          "taken twice", "attempt \(attempt) at job \(name) was given to \(takers.count) workers",
          Array(takers.prefix(2)))
      }
      guard let taker = takers.first else { continue }
      if let finish = events.finishes.first(where: {
        isDone($0.operation)
          && operations[$0.operation].ended ?? .max < operations[taker].began
      }) {
        found.add(
          "taken after its end",
          "\(operations[taker].place) was given job \(name), which had been finished",
          [finish.operation, taker])
      }
      // The attempt before must have been given up; one of a worker that died unheard is nobody's to tell.
      guard attempt > 1, let before = events.takes[attempt - 1]?.first(where: isDone) else {
        continue
      }
      let ended = operations[taker].ended ?? .max
      let wasGivenUp =
        (events.releases[attempt - 1] ?? []).contains { operations[$0].began < ended }
        || openReleases.contains {
          operations[$0].began < ended
            && operations[$0].ended ?? .max > operations[before].began
        }
      if !wasGivenUp {
        found.add(
          "taken from the living",
          "\(operations[taker].place) was given job \(name), which nobody had given up",
          [before, taker])
      }
    }
  }

  /// Whether a take of unknown outcome may have taken the job: not before it was made, nor after it was finished.
  private static func mayHaveTaken(
    _ take: Int, _ events: Events, _ operations: [OperationRecord]
  ) -> Bool {
    let (began, ended) = (operations[take].began, operations[take].ended ?? .max)
    let isFinished = events.finishes.contains {
      operations[$0.operation].outcome == .done
        && operations[$0.operation].ended ?? .max < began
    }
    return !isFinished && events.inserts.contains { operations[$0].began < ended }
  }

  private static func checkEnd(
    _ name: String, _ events: Events, _ job: Job?, openTakes: Int,
    _ operations: [OperationRecord], _ found: inout Findings
  ) {
    func isDone(_ operation: Int) -> Bool { operations[operation].outcome == .done }
    let finishes = events.finishes.filter { isDone($0.operation) }
    if finishes.count > 1 {
      found.add(
        "finished twice", "job \(name) was finished \(finishes.count) times",
        finishes.prefix(2).map(\.operation))
    }
    guard let job else {
      if let lost = events.inserts.first(where: isDone)
        ?? events.takes.values.joined().first(where: isDone)
      {
        found.add("lost job", "job \(name) was there and is no more", [lost])
      }
      return
    }
    if job.results > 1 {
      found.add(
        "finished twice", "job \(name) has \(job.results) results",
        events.finishes.map(\.operation))
    }
    if job.results == 0, let finish = finishes.first {
      found.add("lost result", "job \(name) was finished and has no result", [finish.operation])
    }
    if let attempt = job.finishedBy {
      if !events.finishes.contains(where: { $0.attempt == attempt }) {
        found.add(
          "phantom", "the result of job \(name) is of attempt \(attempt), which did not finish")
      } else if let finish = finishes.first, finish.attempt != attempt, finishes.count == 1 {
        found.add(
          "wrong result",
          "job \(name) was finished by attempt \(finish.attempt), and its result is of \(attempt)",
          [finish.operation])
      }
    }
    let last = events.takes.filter { $0.value.contains(where: isDone) }.keys.max() ?? 0
    if job.attempts < last, let taker = events.takes[last]?.first(where: isDone) {
      found.add(
        "lost take", "job \(name) has \(job.attempts) attempts, and \(last) were given out", [taker]
      )
    }
    let certain = events.takes.filter { $0.value.contains(where: isDone) }.count
    // One take takes a job once at most.
    if job.attempts > Int64(certain + openTakes) {
      found.add(
        "phantom", "job \(name) has \(job.attempts) attempts, and \(certain) were given out")
    }
  }
}
