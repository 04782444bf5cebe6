import BoutiqueDB
import ProcessHarness
package import StressFaults
import StressHistory
import StressReport

/// Rows of many columns and of blobs up to some megabytes, in which any mixture of versions is seen.
///
/// Rows come in pairs that every transaction changes together, so half a transaction is seen as well. Pages are
/// freed by deletions, given back by incremental vacuum, and used again.
package struct WideRowsWorkload: Workload {
  package static let name = "wide-rows"
  package static let summary =
    "rows of many columns and megabytes, derivable from key and version: torn reads are seen at once"
  package static let faults = FaultKind.allCases

  /// The pairs of rows.
  static let pairs = 12

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    // What can only be chosen before there is a table; a small page makes for long chains of overflow pages.
    let size = [1024, 4096, 512, 8192][Int(run.plan.seed % 4)]
    let text = """
      db = connect()
      db.execute("PRAGMA page_size = \(size)")
      db.execute("PRAGMA auto_vacuum = INCREMENTAL")
      db.execute("CREATE TABLE pair (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)")
      say(size=db.execute("PRAGMA page_size").fetchone()[0])

      """
    _ = try await ForeignProgram.result(text, database: run.database)
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(WideContent.schema)
      for pair in 0..<Self.pairs {
        try connection.execute("INSERT INTO pair VALUES (?, 0)", pair)
        for key in Self.keys(Int64(pair)) { try WideContent.insert(key, 0, connection) }
      }
    }
    await db.close()
  }

  static func keys(_ pair: Int64) -> [Int64] { [pair * 2, pair * 2 + 1] }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open { $0.writeAheadLogBound = 8 << 20 }
    var random = worker.random("live")
    let pair = Int64(random.int(0...Self.pairs - 1))
    let live = LiveMirror<WidePair>(
      "pair \(pair)", worker, expects: Self.note(worker),
      problem: { before, now in now.problem(after: before) },
      fetch: { try WidePair(pair, $0) })
    let versions = LiveMirror<[Int64]>(
      "versions", worker,
      problem: { before, now in
        guard let before, zip(before, now).contains(where: { $0 > $1 }) else { return nil }
        return "went back from \(before) to \(now)"
      },
      fetch: {
        try $0.query("SELECT version FROM pair ORDER BY id").map { try $0.decode(0) }
      })
    try await worker.following([{ await live.follow(db) }, { await versions.follow(db) }]) {
      try await worker.withClients(3) { client in
        if client == 2 { await read(db, worker) } else { await write(db, worker, client) }
      }
      await versions.settle(on: db, touch: { _ = try await Self.change(0, .update(.a), $0) })
      await live.settle(on: db, touch: { _ = try await Self.change(pair, .update(.a), $0) })
    }
    await db.close()
  }

  // MARK: Writing

  enum Change: Sendable {
    case update(WideContent.Half)
    case delete
    case replace
  }

  /// Changes both rows of a pair to the pair's next version, and returns it.
  static func change(_ pair: Int64, _ change: Change, _ db: BoutiqueDB) async throws -> Int64 {
    try await UndoneWrite.write(db) { connection in
      let version: Int64 =
        (try connection.queryOne("SELECT version FROM pair WHERE id = ?", pair)?.decode(0) ?? 0) + 1
      try connection.execute("UPDATE pair SET version = ? WHERE id = ?", version, pair)
      for key in keys(pair) {
        let isThere = try connection.queryOne("SELECT 1 FROM wide WHERE id = ?", key) != nil
        switch change {
        case .update(let half) where isThere:
          try WideContent.update(key, version, half, connection)
        case .delete where isThere:
          try connection.execute("DELETE FROM wide WHERE id = ?", key)
        case .replace where isThere:
          try connection.execute("DELETE FROM wide WHERE id = ?", key)
          try WideContent.insert(key, version, connection)
        default: try WideContent.insert(key, version, connection)
        }
      }
      return version
    }
  }

  private func write(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    while !worker.shouldEnd {
      let pair = Int64(random.int(0...Self.pairs - 1))
      let change: Change =
        switch random.int(1...10) {
        case 1, 2: .delete
        case 3: .replace
        case 4...6: .update(.b)
        default: .update(.a)
        }
      await worker.attempt("change", client: client, [Step(.set, "\(pair)")]) { _ in
        let version = try await Self.change(pair, change, db)
        return [Step(.set, "\(pair)", .integer(version))]
      }
      if random.chance(10) {
        await worker.attempt("vacuum", client: client) { _ in
          try await db.write { try $0.execute("PRAGMA incremental_vacuum(64)") }
          return []
        }
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...10)))
    }
  }

  // MARK: Reading

  private func read(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    var random = worker.random("read")
    while !worker.shouldEnd {
      let way = random.int(0...3)
      let pair = Int64(random.int(0...Self.pairs - 1))
      await worker.attempt("read \(way)", client: 2, expects: Self.note(worker)) { _ in
        try await db.read { connection in try WideReading.read(way, pair, connection) }
        return []
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...20)))
    }
  }

  /// Notes a torn row as what it is, and no error.
  private static func note(_ worker: WorkerContext) -> @Sendable (any Error) -> Bool {
    { error in
      guard let torn = error as? TornRow else { return false }
      worker.log.note(.violation, "torn read", torn.text)
      return true
    }
  }
}
