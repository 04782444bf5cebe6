import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// Durable consumers that keep a mirror of a table in a file of their own, while the log is pruned hard.
///
/// Every write counts a tick and changes some items in the same transaction. A mirror (``Mirror``) applies
/// each change and its token in one transaction of its own, so that each is applied once although a killed
/// process gets it again. The ticks tell what is skipped or repeated, the items' versions what is out of
/// order. One consumer more never comes: what it has not acknowledged is kept for it, up to the hard bound.
package struct FeedMirrorWorkload: Workload {
  package static let name = "feed-mirror"
  package static let summary =
    "durable feeds mirrored exactly once, under pruning: the mirrors are equal to the table"
  // A power cut may take from the database what a mirror has kept, or the other way round.
  package static let faults = FaultKind.allCases.filter { $0 != .powerCut }

  /// How many commits the log keeps for those who do not wait.
  static let rows = 20
  /// And how many for those who do.
  static let hardRows = 6000
  static let items = 40
  private static let laggard = "laggard"
  /// How long nothing may move at the end before what is missing counts.
  private static let patience: Int64 = 10_000_000_000

  package init() {}

  static func configure(_ configuration: inout BoutiqueConfiguration) {
    configuration.cdcRetention = .init(rows: rows, age: .seconds(1), hardRows: hardRows)
    configuration.captureModes = ["item": .full, "tick": .full]
  }

  package func prepare(_ run: RunContext) async throws {
    let db = try await Self.open(run, "prepare")
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, version INTEGER NOT NULL);
        CREATE TABLE tick (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
        CREATE TABLE ended (place INTEGER PRIMARY KEY);
        INSERT INTO tick VALUES (1, 0);
        """)
    }
    // Before the first write, so that nothing is pruned that somebody will want.
    let start = try await db.currentToken()
    for name in (0..<run.plan.processes).map(Mirror.consumer) + [Self.laggard] {
      for try await _ in db.changes(since: start, consumer: name, following: false) {}
    }
    await db.close()
    for place in 0..<run.plan.processes { await (try await Mirror.open(run, place)).close() }
  }

  private static func open(_ run: RunContext, _ label: String) async throws -> BoutiqueDB {
    var configuration = run.configuration(label: label)
    configure(&configuration)
    return try await BoutiqueDB.open(path: run.database, configuration: configuration)
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open(Self.configure)
    let mirror = try await openMirror(worker)
    let following = Task { await follow(db, mirror, worker) }
    await write(db, mirror, worker)
    await mark(db, worker)
    await catchUp(db, mirror, worker)
    following.cancel()
    await following.value
    await mirror.close()
    await db.close()
  }

  private func openMirror(_ worker: WorkerContext) async throws -> Mirror {
    while true {
      do {
        return try await Mirror.open(worker.run, worker.place)
      } catch {
        if worker.shouldEnd || worker.run.plan.faults.isEmpty { throw error }
        worker.log.note(.trouble, "mirror", "\(error)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  private func write(_ db: BoutiqueDB, _ mirror: Mirror, _ worker: WorkerContext) async {
    var random = worker.random("items")
    while !worker.shouldEnd {
      let ids = (0...random.int(0...2)).map { _ in random.int(0...Self.items - 1) }
      let deletes = random.chance(20)
      let steps = await worker.operate("write") {
        let tick = try await db.write { connection in
          let row = try connection.queryOne("UPDATE tick SET value = value + 1 RETURNING value")
          for id in ids {
            try connection.execute(
              deletes
                ? "DELETE FROM item WHERE id = ?"
                : """
                INSERT INTO item VALUES (?1, 1, 1)
                  ON CONFLICT (id) DO UPDATE SET value = value + 1, version = version + 1
                """, id)
          }
          return try row?.decode("value", as: Int64.self) ?? -1
        }
        return [Step(.set, "tick", .integer(tick))]
      }
      // The own mirror is not left far behind: being cut off is the laggard's part.
      if case .integer(let tick)? = steps?.first?.value {
        while !worker.shouldEnd, mirror.tick + 150 < tick {
          try? await Task.sleep(for: .milliseconds(5))
        }
      }
      try? await Task.sleep(for: .microseconds(random.int(0...6000)))
    }
  }

  /// Follows the feed until the task is cancelled.
  private func follow(_ db: BoutiqueDB, _ mirror: Mirror, _ worker: WorkerContext) async {
    var random = worker.random("mirror")
    while !Task.isCancelled {
      do {
        var count = random.int(1...20)
        for try await change in db.changes(consumer: Mirror.consumer(worker.place)) {
          for violation in try await mirror.apply(change.change, of: db, isStrict: true) {
            worker.log.note(.violation, violation.check, violation.text)
          }
          count -= 1
          if count > 0 {
            change.acknowledgeSoon()
            continue
          }
          count = random.int(1...20)
          try await change.acknowledge()
          if random.chance(10) {
            try await Task.sleep(for: .milliseconds(random.int(1...60)))
          }
        }
      } catch {
        if Task.isCancelled { return }
        let kind: Note.Kind = worker.run.plan.faults.isEmpty ? .violation : .trouble
        worker.log.note(kind, "feed", "\(error)")
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Says that this process writes no more.
  private func mark(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    let place = worker.place
    for _ in 0..<100 {
      if (try? await db.write({ try $0.execute("INSERT OR IGNORE INTO ended VALUES (?)", place) }))
        != nil
      {
        return
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits until nobody writes any more and the mirror has everything.
  private func catchUp(_ db: BoutiqueDB, _ mirror: Mirror, _ worker: WorkerContext) async {
    var last: (Int64, Int64) = (-1, -1)
    var lastMove = HistoryLog.now()
    while true {
      let state = try? await db.read { connection -> (tick: Int64, ended: Int) in
        let row = try connection.queryOne("SELECT value FROM tick")
        return (
          try row?.decode("value", as: Int64.self) ?? 0,
          try connection.query("SELECT place FROM ended").count
        )
      }
      let now = (state?.tick ?? -1, mirror.tick)
      if now != last { (last, lastMove) = (now, HistoryLog.now()) }
      if let state, state.tick == mirror.tick, state.ended >= worker.run.plan.processes { return }
      if HistoryLog.now() - lastMove > Self.patience {
        // One that was killed at the very end has not said that it writes no more.
        guard now.0 != now.1 else { return }
        worker.log.note(
          .violation, "missed change",
          "\(Mirror.consumer(worker.place)) stands at tick \(now.1), and the newest is \(now.0)")
        return
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let db = try await Self.open(run, "check")
    var violations: [Violation] = []
    let items = try await db.read(Mirror.items)
    for place in 0..<run.plan.processes {
      let mirror = try await Mirror.open(run, place)
      // A process that was killed at the end has something left to do.
      for try await change in db.changes(consumer: Mirror.consumer(place), following: false) {
        violations += try await mirror.apply(
          change.change, of: db, isStrict: run.plan.faults.isEmpty)
      }
      let own = try await mirror.items()
      if own != items {
        let differing = Set(own).symmetricDifference(items).map(\.description).sorted()
        violations.append(
          Violation(
            check: "mirror differs",
            text: "\(Mirror.consumer(place)): \(differing.prefix(5).joined(separator: ", "))"))
      }
      await mirror.close()
    }
    violations += try await checkLaggard(run, db)
    await db.close()
    return violations
  }

  /// One who never came gets everything that was, or is told that it does not.
  private func checkLaggard(_ run: RunContext, _ db: BoutiqueDB) async throws -> [Violation] {
    let mirror = try await Mirror.open(run, run.plan.processes)
    var violations: [Violation] = []
    for try await change in db.changes(consumer: Self.laggard, following: false) {
      violations += try await mirror.apply(
        change.change, of: db, isStrict: Mirror.isPlain(run.plan.faults))
    }
    await mirror.close()
    return Array(violations.prefix(5))
  }
}
