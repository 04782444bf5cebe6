import BoutiqueDB
package import StressFaults
package import StressHistory

/// Jobs that several workers take and finish, though workers die.
///
/// Who has a job is written down by name: the place of the process and the client in it, as a service is named in
/// its supervisor's list. A process that begins gives up what its predecessor of the same name had taken, which
/// is certainly dead. Nothing is decided by time, so a worker that was stopped for a while keeps its job.
package struct QueueWorkload: Workload {
  package static let name = "queue"
  package static let summary =
    "each job is taken by one worker at a time and finished once, though workers die"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let clients = 4
  /// How many jobs wait at most.
  private static let waiting = 40

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
          state TEXT NOT NULL DEFAULT 'waiting', owner TEXT, attempts INTEGER NOT NULL DEFAULT 0);
        CREATE INDEX job_state ON job (state, id);
        CREATE TABLE result (id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES job (name),
          attempt INTEGER NOT NULL, owner TEXT NOT NULL);
        CREATE INDEX result_job ON result (job, attempt);
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    try await WorkloadClient.run(worker, count: Self.clients) { client in
      var queue = QueueClient(client: client, owner: "\(worker.place)/\(client.number)")
      await queue.work()
    }
  }

  /// One of the workers.
  private struct QueueClient {
    var client: WorkloadClient
    let owner: String
    private var made = 0

    init(client: WorkloadClient, owner: String) {
      self.client = client
      self.owner = owner
    }

    mutating func work() async {
      await giveUp()
      while !client.shouldEnd {
        if client.random.chance(35) { await add() }
        guard let jobs = await take() else {
          // Whether it was given something is not known: then it is nobody's until it is given up.
          await giveUp()
          continue
        }
        for job in jobs {
          if client.random.chance(30) {
            try? await Task.sleep(for: .microseconds(client.random.int(0...3000)))
          }
          await finish(job)
        }
      }
    }

    /// Gives up what was taken in this name by somebody who cannot finish it any more.
    private func giveUp() async {
      let owner = owner
      while !client.shouldEnd {
        let steps = await client.operate("give up") { db in
          try await client.write(db) { connection in
            try connection.query(
              """
              UPDATE job SET state = 'waiting', owner = NULL WHERE owner = ? AND state = 'taken'
                RETURNING name, attempts
              """, owner
            ).map { row in Step(.set, try row.decode(0), .integer(try row.decode(1))) }
          }
        }
        if steps != nil { return }
      }
    }

    private mutating func add() async {
      let count = client.random.int(1...3)
      let names = (0..<count).map { "\(client.worker.start)/\(client.number)/\(made + $0)" }
      made += count
      let steps = names.map { Step(.insert, $0) }
      await client.operate("add", steps) { db in
        try await client.write(db) { connection in
          let waiting = try Job.where { $0.state.eq("waiting") }.fetchCount(connection)
          guard waiting < QueueWorkload.waiting else {
            throw DeliberateRollback("there is enough to do")
          }
          for name in names { try Job.insert { Job.Draft(name: name) }.execute(connection) }
        }
        return steps
      }
    }

    private mutating func take() async -> [Step]? {
      let owner = owner
      let count = client.random.chance(20) ? 2 : 1
      let isModel = client.random.chance(50)
      return await client.operate("take") { db in
        try await client.write(db) { connection in
          isModel
            ? try connection.takeWithModels(count, owner)
            : try connection.query(
              """
              UPDATE job SET state = 'taken', owner = ?, attempts = attempts + 1 WHERE id IN
                (SELECT id FROM job WHERE state = 'waiting' ORDER BY id LIMIT ?)
                RETURNING name, attempts
              """, owner, count
            ).map { row in Step(.take, try row.decode(0), .integer(try row.decode(1))) }
        }
      }
    }

    /// Finishes a job, again and again while faults prevent it.
    private func finish(_ job: Step) async {
      guard case .integer(let attempt) = job.value else { return }
      let owner = owner
      let step = Step(.finish, job.key, .integer(attempt))
      while !client.shouldEnd {
        var isGone = false
        let steps = await client.operate("finish", [step]) { db in
          do {
            try await client.write(db) { connection in
              let changed = try connection.execute(
                """
                UPDATE job SET state = 'done' WHERE name = ? AND owner = ? AND attempts = ?
                  AND state = 'taken'
                """, job.key, owner, attempt)
              guard changed == 1 else { throw DeliberateRollback("it is not mine") }
              try connection.execute(
                "INSERT INTO result (job, attempt, owner) VALUES (?, ?, ?)", job.key, attempt,
                owner)
            }
          } catch let error as DeliberateRollback {
            // An attempt to finish it that ended in the open has finished it.
            isGone = true
            throw error
          }
          return [step]
        }
        if steps != nil || isGone { return }
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run,
      [
        "jobs": """
        SELECT name, attempts, (SELECT count(*) FROM result WHERE job = name),
          (SELECT min(attempt) FROM result WHERE job = name), state FROM job ORDER BY id
        """
      ])
    var violations = state.violations
    var final: [String: QueueCheck.Job] = [:]
    for row in state.texts("jobs") where row.count == 5 {
      let results = Int(row[2]) ?? 0
      final[row[0]] = QueueCheck.Job(
        attempts: Int64(row[1]) ?? 0, results: results, finishedBy: Int64(row[3]))
      if (row[4] == "done") != (results > 0) {
        violations.append(
          Violation(
            check: "half a finish", text: "job \(row[0]) is \(row[4]) with \(results) results"))
      }
    }
    return violations + QueueCheck.violations(history.operations, final: final)
  }
}

/// Something to be done.
@Table struct Job: Sendable {
  let id: Int
  var name: String
  var state: String = "waiting"
  var owner: String?
  var attempts: Int = 0
}

extension BoutiqueConnection {
  /// Takes jobs one by one, by typed models.
  fileprivate func takeWithModels(_ count: Int, _ owner: String) throws -> [Step] {
    var steps: [Step] = []
    for _ in 0..<count {
      let next = Job.where { $0.state.eq("waiting") }.order { $0.id.asc() }.limit(1)
      guard let job = try next.fetchOne(self) else { break }
      let attempts = job.attempts + 1
      try Job.find(job.id).update {
        $0.state.set("taken")
        $0.owner.set(owner)
        $0.attempts.set(attempts)
      }.execute(self)
      steps.append(Step(.take, job.name, .integer(Int64(attempts))))
    }
    return steps
  }
}
