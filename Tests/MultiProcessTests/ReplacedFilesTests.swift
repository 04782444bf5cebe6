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
        #expect(try await scene.shell("SELECT n FROM counter") == ["1000"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a database exchanged by mv is a typed error, and reopening works`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["poll": 50])
        try await worker.execute("INSERT INTO note (body) VALUES ('old')")
        let (watch, _) = try await worker.observe("SELECT body FROM note")
        let other = scene.directory + "/other.db"
        try await scene.shell(
          "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES (1, 'new')",
          on: other)
        try #require(rename(other, scene.path) == 0)

        let error = await #expect(throws: WorkerError.self) {
          try await worker.execute("INSERT INTO note (body) VALUES ('lost')")
        }
        #expect(error?.name == "fileReplaced")
        #expect(error?.message.contains(scene.path) == true)
        // The observation ends with the same error.
        let end = await #expect(throws: WorkerError.self) { try await worker.end(of: watch) }
        #expect(end?.name == "fileReplaced")
        // Nothing was written to the file that took the place.
        #expect(try await scene.shell("SELECT body FROM note") == ["new"])

        try await worker.perform("close")
        try await scene.open(in: worker, "worker", ["migrations": []])
        try await worker.execute("INSERT INTO note (body) VALUES ('again')")
        #expect(
          try await scene.shell("SELECT body FROM note ORDER BY id") == ["new", "again"])
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
