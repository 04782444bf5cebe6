import Glibc
import LockInspection
import ProcessHarness
import Testing

extension Locks {
  /// Views of the change log that others tear while they are being read.
  ///
  /// The database is made by the `sqlite3` shell, so that this process never opens it except to look.
  @Suite struct ChangeLookTests {
    /// 200 tokens in a log, the shell still attached.
    private static func log(_ scene: LockScene) async throws -> ChildProcess {
      try await scene.shell(
        """
        PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE boutiquedb_cdc (token INTEGER PRIMARY KEY AUTOINCREMENT, pad);
        \(more)
        """)
    }

    private static let more = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO boutiquedb_cdc (pad) SELECT hex(randomblob(400)) FROM n;
      """

    /// Looks; other processes run these statements once, in the middle of the first view.
    private static func look(
      _ scene: LockScene, meanwhile statements: String
    ) -> (outcome: ChangeLook.Outcome, views: Int) {
      var views = 0
      let look = ChangeLook(path: scene.path, isAttached: true) {
        views += 1
        guard views == 1, !statements.isEmpty else { return }
        let script = "PRAGMA wal_autocheckpoint = 0; \(statements)".replacing("\n", with: " ")
        #expect(system("sqlite3 '\(scene.path)' '\(script)' >/dev/null") == 0)
      }
      return (look.read(), views)
    }

    private static func tokens(_ first: Int64, _ last: Int64) -> ChangeLook.Outcome {
      var facts = ChangeFacts()
      facts.firstToken = first
      facts.lastToken = last
      return .seen(facts)
    }

    @Test func `a quiet log is read once`() async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        let (outcome, views) = Self.look(scene, meanwhile: "")
        #expect(outcome == Self.tokens(1, 200))
        #expect(views == 1)
        withExtendedLifetime(shell) {}
      }
    }

    @Test func `commits behind the view do not tear it`() async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        let (outcome, views) = Self.look(scene, meanwhile: Self.more)
        #expect(outcome == Self.tokens(1, 200))
        #expect(views == 1)
        withExtendedLifetime(shell) {}
      }
    }

    @Test func `a checkpoint of what the view has does not tear it`() async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        let (outcome, views) = Self.look(scene, meanwhile: "PRAGMA wal_checkpoint(PASSIVE);")
        #expect(outcome == Self.tokens(1, 200))
        #expect(views == 1)
        withExtendedLifetime(shell) {}
      }
    }

    @Test(arguments: [
      "\(more) PRAGMA wal_checkpoint(PASSIVE);",
      "PRAGMA wal_checkpoint(PASSIVE); DELETE FROM boutiquedb_cdc WHERE token < 50; \(more)",
      "PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM boutiquedb_cdc WHERE token < 50; \(more)",
      "PRAGMA wal_checkpoint(RESTART); DELETE FROM boutiquedb_cdc WHERE token < 50; \(more)",
    ])
    func `a view that was torn is thrown away and taken again`(statements: String) async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        let (outcome, views) = Self.look(scene, meanwhile: statements)
        #expect(outcome == Self.tokens(statements.contains("DELETE") ? 50 : 1, 400))
        #expect(views == 2)
        withExtendedLifetime(shell) {}
      }
    }

    @Test func `a log that was emptied is not believed, whatever lies in it`() async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        // Copied, and started anew in the index only: the frames are still in the file.
        shell.send("PRAGMA wal_checkpoint(RESTART);\nSELECT 'done';")
        _ = try await shell.next("the checkpoint") { $0.text == "done" }
        let (outcome, views) = Self.look(scene, meanwhile: Self.more)
        #expect(outcome == Self.tokens(1, 200) || outcome == Self.tokens(1, 400))
        #expect(views <= 2)
      }
    }

    @Test func `a log past the limit is left out and said to be`() async throws {
      try await LockScene.with { scene in
        let shell = try await Self.log(scene)
        let look = ChangeLook(path: scene.path, logLimit: 1000, isAttached: true)
        guard case .unseen(let why) = look.read() else {
          Issue.record("a log past the limit was read")
          return
        }
        #expect(why.contains("1000"))
        withExtendedLifetime(shell) {}
      }
    }
  }
}
