import BoutiqueDB
import ProcessHarness
package import StressFaults
import StressHistory
import StressReport

/// Programs without the library that write beside ours.
///
/// Every third process drives Python's `sqlite3`, every third the `sqlite3` shell. None of ours may hear of a
/// locked database; counters and balances must agree in every snapshot of anyone; and live queries and feeds of
/// ours must end at what the others wrote, whichever way foreign commits are captured.
package struct ForeignWritersWorkload: Workload {
  package static let name = "foreign-writers"
  package static let summary =
    "the sqlite3 shell and Python write beside ours, and die: counters and balances agree, all converge"
  // A foreign program's writes do not go through the file system that a power cut takes them back from.
  package static let faults = FaultKind.allCases.filter { $0 != .powerCut }

  package init() {}

  /// Which way foreign commits are captured: by the seed, so that runs try all.
  private enum Mode: UInt64 {
    case coarse, precise, changing

    init(_ run: RunContext) { self = Mode(rawValue: run.plan.seed % 3) ?? .coarse }
  }

  package func prepare(_ run: RunContext) async throws {
    var configuration = run.configuration(label: "prepare")
    configuration.foreignCapture = Mode(run) == .coarse ? .coarse : .precise
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    try await db.write { connection in
      try connection.executeScript(ForeignLedger.schema)
      for id in 0..<ForeignLedger.counters {
        try connection.execute("INSERT INTO counter VALUES (?, 0)", id)
      }
      for id in 0..<ForeignLedger.accounts {
        try connection.execute("INSERT INTO account VALUES (?, 1000)", id)
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    switch worker.place % 3 {
    case 1: try await drive(.python, worker)
    case 2: try await drive(.shell, worker)
    default: try await workWithLibrary(worker)
    }
  }

  // MARK: Ours

  private func workWithLibrary(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    let live = LiveMirror<ForeignLedger.State>(
      "ledger", worker, problem: { before, state in state.problem(after: before) },
      fetch: { try ForeignLedger.State($0) })
    let feed = FeedCopy("ledger", tables: ["counter", "account", "entry"], worker)
    try await worker.following([{ await live.follow(db) }, { await feed.follow(db) }]) {
      try await worker.withClients(3) { client in
        if client == 2 { await look(db, worker) } else { await write(db, worker, client) }
      }
      await live.settle(on: db, touch: { try await Self.touch($0) })
      await feed.settle(on: db)
    }
    await db.close()
  }

  private static func touch(_ db: BoutiqueDB) async throws {
    try await db.write {
      // Unlike a value that stays, a row that goes is always a change.
      try $0.execute("INSERT INTO account VALUES (-1, 0)")
      try $0.execute("DELETE FROM account WHERE id = -1")
    }
  }

  private func write(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    while !worker.shouldEnd {
      let move = ForeignLedger.Move(&random)
      await worker.attempt("move", client: client, [Step(.add, "\(move.counter)", .integer(1))]) {
        id in
        try await db.write { connection in
          for sql in move.statements(id) { try connection.execute(sql) }
        }
        return [Step(.add, "\(move.counter)", .integer(1))]
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...5)))
    }
  }

  private func look(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    var random = worker.random("look")
    while !worker.shouldEnd {
      await worker.attempt("look", client: 2) { _ in
        let state = try await db.read { try ForeignLedger.State($0) }
        if let problem = state.problem() {
          worker.log.note(.violation, "snapshot", problem)
        }
        return Self.steps(state)
      }
      if worker.place == 0, Mode(worker.run) == .changing, random.chance(5) {
        let mode: BoutiqueConfiguration.ForeignCapture = random.chance(50) ? .coarse : .precise
        await worker.attempt("capture", client: 2) { _ in
          try await db.setForeignCapture(mode)
          return []
        }
      }
      try? await Task.sleep(for: .milliseconds(random.int(5...40)))
    }
  }

  private static func steps(_ state: ForeignLedger.State) -> [Step] {
    state.counters.enumerated().map { Step(.read, "\($0.offset)", .integer($0.element)) }
  }

  // MARK: Theirs

  private func drive(_ kind: ForeignHand.Kind, _ worker: WorkerContext) async throws {
    try await withChildProcesses { children in
      let hand = ForeignHand(kind, database: worker.run.database, children)
      var random = worker.random("foreign")
      var program = try await hand.start()
      while !worker.shouldEnd {
        let move = ForeignLedger.Move(&random)
        let dies = random.chance(4)
        let step = Step(.add, "\(move.counter)", .integer(1))
        let operation = worker.log.begin("move", [step])
        // From outside, at any moment, the commit's own among them.
        let killer =
          random.chance(3)
          ? Task { [program, delay = random.int(0...8)] in
            try? await Task.sleep(for: .milliseconds(delay))
            program.kill()
          } : nil
        let ending = await hand.transact(
          program, number: operation.number, move.statements(EntryID(operation)), dies: dies)
        await killer?.value
        var hasEnded = dies || killer != nil
        switch ending {
        case .done: worker.log.end(operation, .done)
        case .undone(let text): worker.log.end(operation, .refused, error: ForeignError(text: text))
        case .unknown(let text):
          worker.log.end(operation, .unknown, error: ForeignError(text: text))
          if killer == nil { worker.log.note(.trouble, "foreign program", text) }
          hasEnded = true
        }
        if hasEnded {
          await program.end()
          if !worker.shouldEnd { program = try await hand.start() }
        }
        try? await Task.sleep(for: .milliseconds(random.int(0...10)))
      }
    }
  }
}

/// What a foreign program said.
struct ForeignError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
