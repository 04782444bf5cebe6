import BoutiqueDB
import Foundation
import ProcessHarness
package import StressFaults
import StressHistory
import StressReport
import Synchronization

/// Snapshots that are held for long while others write much.
///
/// A snapshot never moves, and nobody waits for it: each one is held until many commits of others have gone by,
/// and that they do is part of what is checked. The log grows meanwhile; once the readers have ended it is back
/// within its bound after a few commits. A consumer of the change feed that never acknowledges is told of, by
/// name, and catches up with one "everything".
package struct LongReadersWorkload: Workload {
  package static let name = "long-readers"
  package static let summary =
    "snapshots held for seconds beside heavy writers: none moves, none stops a writer, the log shrinks again"
  package static let faults = FaultKind.allCases

  /// The bound of the write-ahead log in this workload, in bytes.
  static let logBound: Int64 = 1 << 20
  /// The commits that the change log keeps for a consumer that does not come.
  static let hardRows = 150
  /// Rows that are written over and over.
  static let slots = 64

  package init() {}

  static func configure(_ configuration: inout BoutiqueConfiguration) {
    configuration.writeAheadLogBound = logBound
    configuration.cdcRetention = .init(rows: 50, age: .seconds(3600), hardRows: hardRows)
  }

  package func prepare(_ run: RunContext) async throws {
    var configuration = run.configuration(label: "prepare")
    Self.configure(&configuration)
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE slot (id INTEGER PRIMARY KEY, hits INTEGER NOT NULL, body BLOB NOT NULL);
        CREATE TABLE total (id INTEGER PRIMARY KEY, hits INTEGER NOT NULL);
        """)
      for id in 0..<Self.slots {
        try connection.execute("INSERT INTO slot VALUES (?, 0, zeroblob(8000))", id)
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let bounds = Mutex<Set<String>>([])
    let db = try await worker.open { configuration in
      Self.configure(&configuration)
      configuration.eventHandler = { event in
        guard case .logBoundReached(let bound) = event else { return }
        if bounds.withLock({ $0.insert(bound.consumer).inserted }) {
          worker.log.note(.trouble, "log bound", bound.consumer)
        }
      }
    }
    let live = LiveMirror<SlotSums>(
      "sums", worker, problem: { before, sums in sums.problem(after: before) },
      fetch: { try SlotSums($0) })
    let idler = LateConsumer(worker)
    try await worker.following([{ await live.follow(db) }]) {
      try await worker.withClients(5) { client in
        switch client {
        case 0, 1: await write(db, worker, client)
        case 2: await hold(db, worker, client)
        case 3: await sample(db, worker)
        default:
          if worker.place == 0 {
            await idler.run(db)
          } else if worker.place == 1 {
            try await holdForeign(worker)
          }
        }
      }
      await live.settle(on: db, touch: { try await Self.touch($0) })
      await shrink(db, worker)
    }
    await db.close()
  }

  private static func touch(_ db: BoutiqueDB) async throws {
    try await db.write {
      try $0.execute("INSERT INTO total VALUES (-1, 0)")
      try $0.execute("DELETE FROM total WHERE id = -1")
    }
  }

  private func write(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    while !worker.shouldEnd {
      let first = random.int(0...Self.slots - 4)
      let byte = random.int(0...255)
      await worker.attempt("write", client: client) { id in
        try await db.write { connection in
          let body = [UInt8](repeating: UInt8(byte), count: 8000)
          for slot in first..<first + 4 {
            try connection.execute(
              "UPDATE slot SET hits = hits + 1, body = ? WHERE id = ?", body, slot)
          }
          try connection.execute(
            """
            INSERT INTO total VALUES (?, 4) ON CONFLICT (id) DO UPDATE SET hits = hits + 4
            """, id.process)
        }
        return []
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...4)))
    }
  }

  /// Holds snapshots, each until so many commits have gone by.
  private func hold(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    while !worker.shouldEnd {
      let least = Double(random.int(300...2500)) / 1000
      await worker.attempt("hold", client: client) { _ in
        let held = try await db.read { connection in
          try SnapshotHolding(connection, db, worker, seconds: least)
        }
        if let problem = held.problem {
          worker.log.note(.violation, held.check, problem)
        }
        return [Step(.read, "commits", .integer(Int64(held.commits)))]
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...300)))
    }
  }

  /// Lets a program without the library hold snapshots, too.
  private func holdForeign(_ worker: WorkerContext) async throws {
    let text = """
      db = connect()
      for line in sys.stdin:
          db.execute("BEGIN")
          sums = lambda: db.execute("SELECT sum(hits), count(*) FROM slot").fetchall()
          before = sums()
          time.sleep(float(line))
          after = sums()
          db.execute("COMMIT")
          say(same=before == after)

      """
    try await withChildProcesses { children in
      func start() async throws -> ChildProcess {
        try await ForeignProgram.start(
          ForeignProgram.python(text, database: worker.run.database), children)
      }
      var program = try await start()
      var random = worker.random("foreign")
      while !worker.shouldEnd {
        program.send("\(Double(random.int(100...1500)) / 1000)")
        do {
          let answer = try await program.nextMessage("a snapshot", within: .seconds(120)) { _ in
            true
          }
          if answer["same"]?.bool != true {
            worker.log.note(.violation, "snapshot moved", "that of the Python program")
          }
        } catch {
          // A disk that fails ends it; nothing else may.
          worker.log.note(
            worker.run.plan.faults.isEmpty ? .violation : .trouble, "foreign reader", "\(error)")
          await program.end()
          program = try await start()
        }
        try? await Task.sleep(for: .milliseconds(random.int(0...500)))
      }
    }
  }

  private func sample(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    while !worker.shouldEnd {
      await worker.attempt("status", client: 3) { _ in
        let status = try await db.status()
        worker.log.measure(.logBytes, status.writeAheadLogBytes)
        // Both are said of the same moment.
        if (status.oldestRead == nil) != (status.runningReads == 0) {
          worker.log.note(
            .violation, "status",
            "\(status.runningReads) reads run, and the oldest is \(status.oldestRead ?? -1) s old")
        }
        return []
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Commits a little until the log is back within its bound: with no reader left a few commits must do.
  ///
  /// The others may still hold their last snapshots, so it is given a minute.
  private func shrink(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    let start = HistoryLog.now()
    while true {
      do {
        try await db.write { try $0.execute("UPDATE slot SET body = body WHERE id = 0") }
        try await Self.touch(db)
        let status = try await db.status()
        worker.log.measure(.logBytes, status.writeAheadLogBytes)
        if status.writeAheadLogBytes <= Self.logBound * 2 { return }
        if Double(HistoryLog.now() - start) / 1e9 > 60 {
          worker.log.note(
            .violation, "log bound",
            "the log has \(status.writeAheadLogBytes) bytes a minute after the last reader; frames "
              + "\(status.writeAheadLogFrames ?? -1), in the database \(status.checkpointedFrames ?? -1), "
              + "\(status.checkpointError ?? "no error"), \(status.runningReads) reads")
          return
        }
      } catch {
        worker.judge(error, during: "shrink")
        if Double(HistoryLog.now() - start) / 1e9 > 60 { return }
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }
}
