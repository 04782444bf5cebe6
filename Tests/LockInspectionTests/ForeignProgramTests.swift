import ProcessHarness
import Testing

extension Locks {
  @Suite struct ForeignProgramTests {
    @Test func `a shell left in a transaction is named as being in the way`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let shell = try await scene.shell("BEGIN IMMEDIATE;")
        let id = worker.beginWrite()
        let database = try await scene.waitForJSON("the holder that is kept waiting") {
          $0["findings"]?.list?.first?["severity"] == "problem"
        }
        #expect(database.findings.first == "foreign_writer")
        #expect(database.sqliteLocks(of: shell.processID).isSuperset(of: ["write", "attached"]))
        #expect(database.process(shell.processID)?["role"] == "foreign")
        #expect(
          database.process(shell.processID)?["command"]?.string == "sqlite3 -batch \(scene.path)")

        let tree = try await scene.locks("--tree", scene.path).lines
        #expect(tree.first == "pid \(shell.processID): has SQLite's write lock of app.db")
        #expect(tree.last?.contains("“worker” waits") == true, "\(tree)")
        let late = try await scene.locks("--bound", "0", scene.path)
        #expect(late.status == .exited(1))
        let explanation = try await scene.locks("--explain", scene.path).text
        #expect(explanation.contains("ROLLBACK"), "\(explanation)")

        shell.send("ROLLBACK;")
        try await worker.event("done", of: id)
        let after = try await scene.json()
        #expect(!after.findings.contains("foreign_writer"))
      }
    }

    @Test func `a foreign reader that holds the log back is named with how far`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let reader = try await scene.python(
          """
          db = sqlite3.connect(sys.argv[1], isolation_level=None)
          db.execute('BEGIN')
          db.execute('SELECT count(*) FROM note').fetchall()
          """, [scene.path])
        try await worker.perform(
          "script",
          [
            "sql": """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO note (body) SELECT hex(randomblob(1000)) FROM n
            """
          ])
        let database = try await scene.json()
        let log = try #require(database["log"])
        let readers = log["readers"]?.list ?? []
        #expect(readers.count == 1)
        #expect(readers.first?["process"]?["pid"]?.int == Int(reader.processID))
        #expect(readers.first?["holds_log_back"] == true)
        #expect((readers.first?["frames_behind"]?.int ?? 0) > 1000)
        #expect((log["uncheckpointed_frames"]?.int ?? 0) > 1000)
        #expect(database.sqliteLocks(of: reader.processID).contains("read_mark"))
        #expect(database.findings.contains("reader_holds_log_back"))
        let text = try await scene.locks(scene.path).text
        #expect(text.contains("held back by"), "\(text)")

        await reader.end()
        let after = try await scene.json()
        #expect(after["log"]?["readers"] == [])
      }
    }

    @Test func `the locks of a rollback journal are decoded`() async throws {
      try await LockScene.with { scene in
        let writer = try await scene.shell(
          """
          PRAGMA journal_mode = DELETE; CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1);
          """)
        let reader = try await scene.shell("BEGIN; SELECT count(*) FROM t;")
        let database = try await scene.json()
        #expect(database["journal_mode"] == "rollback")
        #expect(database["lock_file"]?["condition"] == "missing")
        #expect(database.sqliteLocks(of: writer.processID) == ["reserved", "shared"])
        #expect(database.sqliteLocks(of: reader.processID) == ["shared"])
        #expect(database.findings.contains("rollback_writer"))
        // The commit waits for the reader with the pending lock.
        writer.send(".timeout 60000\nCOMMIT;")
        let pending = try await scene.waitForJSON("the pending lock") {
          $0.sqliteLocks(of: writer.processID).contains("pending")
        }
        #expect(pending.sqliteLocks(of: writer.processID).contains("reserved"))
      }
    }

    @Test func `one that waits in the kernel for a lock of SQLite is shown as waiting`()
      async throws
    {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let waiter = try await scene.children.start(
          ChildCommand(
            "python3",
            [
              "-c",
              "import sys, fcntl\nf = open(sys.argv[1], 'r+b')\nfcntl.lockf(f, fcntl.LOCK_EX, 1, 120)",
              scene.path + "-shm",
            ]))
        let database = try await scene.waitForJSON("the wait") { database in
          database.sqliteLocks(of: waiter.processID) == ["write"]
        }
        let own = database["sqlite_locks"]?.list?.first {
          $0["process"]?["pid"]?.int == Int(waiter.processID)
        }
        #expect(own?["is_waiting"] == true)
        let tree = try await scene.locks("--tree", scene.path).lines
        #expect(tree.first?.hasPrefix("pid \(holder.pid) “holder”") == true)
        #expect(tree.last?.hasPrefix("└─ pid \(waiter.processID) waits for a POSIX lock") == true)
      }
    }

    @Test func `waits in the kernel lead on to who is in the way elsewhere`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let other = try await scene.python(
          "f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX)", [scene.file("elsewhere")])
        // In a transaction, and then waiting in the kernel for the other's lock.
        let middle = try await scene.children.start(
          ChildCommand(
            "python3",
            [
              "-c",
              """
              import sqlite3, sys, fcntl
              db = sqlite3.connect(sys.argv[1], isolation_level=None)
              db.execute('BEGIN IMMEDIATE')
              print('there', flush=True)
              f = open(sys.argv[2], 'w'); fcntl.flock(f, fcntl.LOCK_EX)
              """, scene.path, scene.file("elsewhere"),
            ]))
        _ = try await middle.next("its transaction") { $0.text == "there" }
        worker.beginWrite()
        let expected = [
          "pid \(other.processID)", "└─ pid \(middle.processID) waits for a flock lock of",
          "   └─ pid \(worker.pid) “worker” waits",
        ]
        let deadline = ContinuousClock.now + .seconds(60)
        var tree: [String] = []
        repeat {
          tree = try await scene.locks("--tree", scene.path).lines
        } while !tree.matches(expected) && ContinuousClock.now < deadline
        #expect(tree.matches(expected), "\(tree)")
      }
    }
  }
}

extension [String] {
  /// Whether there are as many lines, each with its beginning.
  fileprivate func matches(_ beginnings: [String]) -> Bool {
    count == beginnings.count && zip(self, beginnings).allSatisfy { $0.hasPrefix($1) }
  }
}
