import BoutiqueDB
import StressHistory
import StressReport

// Rests, so that a change that was missed is not made good by the next one.
//
// The one row of `rest` says whether all rest, and for which time. Writers look at it in their own
// transactions, so once it is committed that all rest, nobody counts on. Every process then waits until its
// live queries have settled, and says so in `settled`. The process at place 0 begins a rest now and then and
// ends it when all have said so; if it dies, the one that is started in its place ends the rest.

/// One process's part in the rests.
struct LiveRest: Sendable {
  let db: BoutiqueDB
  let worker: WorkerContext
  let board: LiveBoard

  /// How long a rest lasts at most: longer than it takes to find that a change was missed.
  private static let longest: Int64 = 30_000_000_000

  static func make(on connection: BoutiqueConnection) throws {
    try connection.executeScript(
      """
      CREATE TABLE rest (id INTEGER PRIMARY KEY, round INTEGER NOT NULL, isOn INTEGER NOT NULL);
      CREATE TABLE settled (place INTEGER NOT NULL, round INTEGER NOT NULL,
        PRIMARY KEY (place, round)) WITHOUT ROWID;
      INSERT INTO rest VALUES (1, 0, 0);
      """)
  }

  static func isOn(_ connection: BoutiqueConnection) throws -> Bool {
    try connection.queryOne("SELECT 1 FROM rest WHERE isOn = 1") != nil
  }

  /// Begins and ends rests, until the run ends.
  func conduct() async {
    var random = worker.random("rest")
    while !worker.shouldEnd {
      await pause(random.int(200...800))
      if worker.shouldEnd { break }
      _ = try? await db.write {
        try $0.execute("UPDATE rest SET isOn = 1, round = round + 1 WHERE isOn = 0")
      }
      let began = HistoryLog.now()
      while !worker.shouldEnd, HistoryLog.now() - began < Self.longest {
        let settled = try? await db.read { connection in
          try connection.query(
            "SELECT place FROM settled WHERE round = (SELECT round FROM rest)"
          ).count
        }
        if settled ?? 0 >= worker.run.plan.processes { break }
        await pause(20)
      }
      await end()
    }
    await end()
  }

  private func end() async {
    // Until it is done, whatever fails meanwhile: nobody would write any more.
    for _ in 0..<200 {
      do {
        try await db.write { try $0.execute("UPDATE rest SET isOn = 0 WHERE isOn = 1") }
        return
      } catch {
        await pause(20)
      }
    }
  }

  /// Settles in each rest, until the run ends.
  func follow() async {
    var last: Int64 = 0
    while !worker.shouldEnd {
      guard let round = await round(), round != last else {
        await pause(20)
        continue
      }
      let isOn = { await self.round() == round }
      await board.settle(
        "in rest \(round)", while: isOn, read: { try await db.read(LiveState.init) })
      last = round
      let place = worker.place
      _ = try? await db.write {
        try $0.execute("INSERT OR IGNORE INTO settled VALUES (?, ?)", place, round)
      }
    }
  }

  /// The number of the rest that is on; nil when there is none.
  private func round() async -> Int64? {
    let row = try? await db.read { try $0.queryOne("SELECT round FROM rest WHERE isOn = 1") }
    return try? row?.decode("round", as: Int64.self)
  }

  private func pause(_ milliseconds: Int) async {
    var left = milliseconds
    while left > 0, !worker.shouldEnd {
      try? await Task.sleep(for: .milliseconds(min(left, 50)))
      left -= 50
    }
  }
}
