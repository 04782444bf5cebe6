import BoutiqueDB
import Foundation
import ProcessHarness
import Synchronization
import Testing

extension MultiProcess {
  /// Programs with and without this library write at once; not one commit may go unaccounted.
  @Suite struct ForeignAccountingTests {
    /// Commits of each kind of writer in one round.
    ///
    /// A round ends with everybody at rest.
    struct Load: Sendable {
      var rounds: Int
      /// Of each of two Python programs.
      var python: Int
      var shell: Int
      /// Of each of two processes that use the library.
      var library: Int

      var foreign: Int { rounds * (2 * python + shell) }
      var total: Int { foreign + rounds * 2 * library }
    }

    @Test(arguments: [
      (
        BoutiqueConfiguration.ForeignCapture.coarse,
        Load(rounds: 10, python: 4_000, shell: 1_500, library: 250)
      ),
      (.precise, Load(rounds: 10, python: 1_500, shell: 500, library: 100)),
    ])
    func `not one commit goes unaccounted`(
      _ capture: BoutiqueConfiguration.ForeignCapture, _ load: Load
    ) async throws {
      #expect(capture == .precise || load.total == 100_000)
      try await withScene { scene in
        var configuration = BoutiqueConfiguration()
        configuration.foreignCapture = capture
        configuration.cdcRetention.rows = 1_000_000
        let db = try await BoutiqueDB.open(
          path: scene.path, configuration: configuration, migrations: Self.plan)
        do {
          try await run(load, capture, on: db, in: scene)
        } catch {
          await db.close()
          throw error
        }
        await db.close()
        try await scene.expectIntegrity()
      }
    }

    private static let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("tally") { conn in
        try conn.executeScript(
          """
          CREATE TABLE tally (writer TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
          INSERT INTO tally VALUES ('python1', 0), ('python2', 0), ('shell', 0), ('library1', 0),
            ('library2', 0), ('observer', 0);
          """)
      }
    }

    private static func increment(_ writer: String) -> String {
      "UPDATE tally SET n = n + 1 WHERE writer = '\(writer)'"
    }

    private func run(
      _ load: Load, _ capture: BoutiqueConfiguration.ForeignCapture, on db: BoutiqueDB,
      in scene: Scene
    ) async throws {
      let observe = Self.increment("observer")
      try await db.write { _ = try $0.execute(observe) }
      let start = try await db.currentToken()
      let first = try await newestCounter(db)
      let model = TallyModel(db: db)
      let following = Task { try await model.follow(since: start) }
      defer { following.cancel() }

      let pythons = [try await python("python1", scene), try await python("python2", scene)]
      let shell = try await scene.children.start(
        ChildCommand("sqlite3", ["-batch", "-bail", "-cmd", ".timeout 60000", scene.path]))
      shell.send("PRAGMA synchronous = OFF;")
      let workers = [
        try await scene.opened("library1", ["migrations": []]),
        try await scene.opened("library2", ["migrations": []]),
      ]
      for round in 1...load.rounds {
        for python in pythons { python.send("\(load.python)") }
        for _ in 0..<load.shell { shell.send(Self.increment("shell") + ";") }
        shell.send("SELECT 'round \(round)';")
        let commands = workers.enumerated().map { index, worker in
          worker.begin(
            "increment",
            [
              "sql": .text(Self.increment("library\(index + 1)")),
              "times": .integer(Int64(load.library)),
            ])
        }
        for python in pythons {
          _ = try await python.next("the end of round \(round)") { $0.text == "done" }
        }
        _ = try await shell.next("the end of round \(round)") { $0.text == "round \(round)" }
        for (worker, command) in zip(workers, commands) { try await worker.end(of: command) }

        // Everybody rests. What the feed alone has led the model to read is the truth.
        let truth = try await TallyModel.read(db)
        #expect(truth["shell"] == Int64(round * load.shell))
        try await model.wait(until: truth)
      }
      following.cancel()
      try await db.write { _ = try $0.execute(observe) }
      try await checkChain(load, capture, on: db, since: start, first: first)
    }

    private func python(_ writer: String, _ scene: Scene) async throws -> ChildProcess {
      try await scene.python(
        """
        db.execute('PRAGMA synchronous = OFF')
        for line in sys.stdin:
            for _ in range(int(line)):
                db.execute("\(Self.increment(writer))")
            say('done')
        """)
    }

    private func newestCounter(_ db: BoutiqueDB) async throws -> Int64 {
      try await db.read { conn in
        let row = try conn.queryOne(
          "SELECT counter_after FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1")
        return try row?.decode(0, as: Int64.self) ?? 0
      }
    }

    /// The change counter has grown by one with each commit; each step is a commit of ours in the log, or lies
    /// in a place where the feed reports foreign commits.
    private func checkChain(
      _ load: Load, _ capture: BoutiqueConfiguration.ForeignCapture, on db: BoutiqueDB,
      since start: ChangeToken, first: Int64
    ) async throws {
      struct Row {
        var token: Int64
        var before: Int64
        var after: Int64
        var isForeign: Bool
      }
      let rows = try await db.read { conn in
        try conn.query(
          """
          SELECT token, counter_before, counter_after, origin FROM boutiquedb_cdc
            WHERE token > ? ORDER BY token
          """, start.number
        ).map {
          Row(
            token: try $0.decode(0), before: try $0.decode(1), after: try $0.decode(2),
            isForeign: try $0.decode(3, as: Int64.self) == 0)
        }
      }
      var counter = first
      var foreign: Int64 = 0
      var expected: [String] = []
      for row in rows {
        #expect(row.before >= counter, "the chain went back")
        if row.before > counter {
          foreign += row.before - counter
          expected.append("everything")
        }
        if row.isForeign {
          foreign += row.after - row.before
        } else {
          #expect(row.after == row.before + 1)
        }
        expected.append("\(row.token)")
        counter = row.after
      }
      // In the precise case an adoption that found nothing of its own to do is a commit too.
      let adoptions = Int64(rows.count { $0.isForeign })
      #expect(foreign >= Int64(load.foreign) && foreign <= Int64(load.foreign) + adoptions)
      if capture == .coarse { #expect(foreign == Int64(load.foreign)) }

      var found: [String] = []
      for try await change in db.changes(since: start) {
        found.append(change.isEverything ? "everything" : "\(change.token.number)")
        if change.isEverything { #expect(change.origin == .foreign) }
        if change.token.number == rows.last?.token, !change.isEverything { break }
      }
      #expect(found == expected)
      if capture == .precise {
        #expect(!found.contains("everything"), "the triggers have noted every commit")
      }
    }
  }
}

/// What somebody knows of the table who reads it only where the change feed says so.
final class TallyModel: Sendable {
  private let db: BoutiqueDB
  private let state = Mutex<[String: Int64]>([:])

  init(db: BoutiqueDB) { self.db = db }

  static func read(_ db: BoutiqueDB) async throws -> [String: Int64] {
    try await db.read { conn in
      var tally: [String: Int64] = [:]
      for row in try conn.query("SELECT writer, n FROM tally WHERE writer <> 'observer'") {
        tally[try row.decode(0)] = try row.decode(1)
      }
      return tally
    }
  }

  func follow(since token: ChangeToken) async throws {
    for try await change in db.changes(since: token) {
      let read = try await Self.read(db)
      state.withLock { state in
        // Past the row limit of a commit, the table counts as a whole.
        if change.isEverything || change.wholeTables.contains("tally") {
          state = read
        } else {
          for row in change.rows {
            guard case .text(let writer) = row.key.first else { continue }
            state[writer] = read[writer]
          }
        }
      }
    }
  }

  /// Waits until the model is the truth.
  func wait(until truth: [String: Int64]) async throws {
    let clock = ContinuousClock()
    let bound = clock.now + ChildProcess.usualBound
    while state.withLock({ $0 != truth }) {
      guard clock.now < bound else {
        #expect(state.withLock { $0 } == truth)
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
