import Foundation
import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// Files that others remove or exchange while they are open.
  @Suite struct ReplacedFilesTests {
    @Test func `without the lock file everything stays correct`() async throws {
      try await withScene { scene in
        let first = try await scene.opened("first")
        let watcher = try await scene.opened("watcher", ["poll": 50])
        let (watch, _) = try await watcher.observe("SELECT n FROM counter")
        let increment: [String: JSONValue] = [
          "sql": "UPDATE counter SET n = n + 1", "times": 500,
        ]
        let running = first.begin("increment", increment)
        try #require(unlink(scene.path + "-lock") == 0)
        // This one makes a lock file of its own.
        let second = try await scene.opened("second")
        let beside = second.begin("increment", increment)
        try await first.end(of: running)
        try await second.end(of: beside)
        _ = try await watcher.values(of: watch) { $0 == [[1000]] }
        try await scene.expectShell("SELECT n FROM counter", ["1000"])
        try await scene.expectIntegrity()
      }
    }

    /// Moves another database to the scene's path, without the side files of the one that was there: with
    /// them, SQLite itself would take the old log for the new file's.
    private func exchange(_ scene: Scene) async throws {
      let other = scene.directory + "/other.db"
      try await scene.shell(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT);
        INSERT INTO note VALUES (1, 'new');
        """, on: other)
      for suffix in ["-wal", "-shm"] { unlink(scene.path + suffix) }
      try #require(rename(other, scene.path) == 0)
    }

    @Test func `a database exchanged by mv is a typed error, and reopening works`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["poll": 50])
        try await worker.execute("INSERT INTO note (body) VALUES ('old')")
        let (watch, _) = try await worker.observe("SELECT body FROM note")
        try await exchange(scene)

        let error = await #expect(throws: WorkerError.self) {
          try await worker.execute("INSERT INTO note (body) VALUES ('lost')")
        }
        #expect(error?.name == "fileReplaced")
        #expect(error?.message.contains(scene.path) == true)
        // The observation ends with the same error.
        let end = await #expect(throws: WorkerError.self) { try await worker.end(of: watch) }
        #expect(end?.name == "fileReplaced")

        try await worker.perform("close")
        try await scene.open(in: worker, "worker", ["migrations": []])
        try await worker.execute("INSERT INTO note (body) VALUES ('again')")
        try await scene.expectShell("SELECT body FROM note ORDER BY id", ["new", "again"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `closing the old database takes nothing from the one in its place`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["poll": 50])
        try await worker.execute("INSERT INTO note (body) VALUES ('old')")
        try await exchange(scene)
        let python = try await scene.python(
          """
          db.execute("INSERT INTO note (body) VALUES ('python')")
          say("written")
          sys.stdin.readline()
          say(",".join(row[0] for row in db.execute("SELECT body FROM note ORDER BY id")))
          """)
        _ = try await python.next("written") { $0.text == "written" }
        // SQLite's last close removes the log by its name, which is the new file's by now.
        try await worker.perform("close")
        try await scene.expectShell("SELECT body FROM note ORDER BY id", ["new", "python"])
        python.send("go on")
        let seen = try await python.next("the rows") { $0.text.contains("new") }
        #expect(seen.text == "new,python")
        try await scene.expectIntegrity()
      }
    }

    @Test func `observers learn of an exchange though nobody writes`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["poll": 50])
        let (watch, _) = try await worker.observe("SELECT count(*) FROM note")
        try #require(rename(scene.path, scene.path + ".moved") == 0)
        let end = await #expect(throws: WorkerError.self) { try await worker.end(of: watch) }
        #expect(end?.name == "fileReplaced")
      }
    }

    @Test func `a removed log is noticed before the next write`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        try await worker.execute("INSERT INTO note (body) VALUES ('old')")
        try #require(unlink(scene.path + "-wal") == 0)
        let error = await #expect(throws: WorkerError.self) {
          try await worker.execute("INSERT INTO note (body) VALUES ('lost')")
        }
        #expect(error?.name == "fileReplaced")
      }
    }
  }
}
