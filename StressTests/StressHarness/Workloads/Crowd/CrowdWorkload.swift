import BoutiqueDB
package import StressFaults
import StressHistory
import StressReport

/// Far more processes than cores: each writes single rows and has a live query.
///
/// Everybody gets on: turns come in order of arrival, so nobody who lives starves, and all live queries end at
/// the same rows.
package struct CrowdWorkload: Workload {
  package static let name = "crowd"
  package static let summary =
    "a crowd writes single rows and observes: nobody starves, all converge"
  package static let faults = FaultKind.allCases
  package static let usualProcesses = 64

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE hit (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, number INTEGER NOT NULL,
          time INTEGER NOT NULL, UNIQUE (process, number));
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    let live = LiveMirror<CrowdHead>(
      "hits", worker,
      problem: { before, head in
        before.flatMap { head.count < $0.count ? "went back from \($0) to \(head)" : nil }
      },
      fetch: { try CrowdHead($0) })
    // Else the queries of all after each commit would be all that two cores do.
    let pause = Duration.milliseconds(300 + 7 * worker.place)
    try await worker.following([{ await live.follow(db, pause: pause) }]) {
      try await worker.withClients(2) { await write(db, worker, $0) }
      await live.settle(on: db, touch: { try await Self.touch($0) })
    }
    await db.close()
  }

  private static func touch(_ db: BoutiqueDB) async throws {
    try await db.write {
      try $0.execute("INSERT INTO hit VALUES (-1, -1, -1, 0)")
      try $0.execute("DELETE FROM hit WHERE id = -1")
    }
  }

  private func write(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    while !worker.shouldEnd {
      let asked = HistoryLog.now()
      await worker.attempt("hit", client: client) { id in
        let begun = try await UndoneWrite.write(db) { connection in
          let now = HistoryLog.now()
          try connection.execute(
            "INSERT INTO hit (process, number, time) VALUES (?, ?, ?)", id.process, id.number, now)
          return now
        }
        worker.log.measure(.lockWait, begun - asked)
        return []
      }
    }
  }
}

/// How many rows there are, and which is the newest.
struct CrowdHead: Sendable, Equatable {
  var count: Int64
  var process: Int
  var time: Int64

  init(_ connection: BoutiqueConnection) throws {
    count = try connection.queryOne("SELECT count(*) FROM hit")?.decode(0) ?? 0
    let newest = try connection.queryOne("SELECT process, time FROM hit ORDER BY id DESC LIMIT 1")
    process = try newest?.decode(0) ?? -1
    time = try newest?.decode(1) ?? 0
  }
}
