import Foundation
import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// Programs without this library that write, or read for long, beside it.
  @Suite struct ForeignWriterTests {
    @Test func `a shell that keeps its transaction for three seconds is waited for`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker", ["lockTimeout": 60_000])
        let other = try await scene.opened("other", ["lockTimeout": 60_000])
        let shell = try await scene.children.start(
          ChildCommand("sqlite3", ["-batch", "-bail", scene.path]))
        shell.send("BEGIN IMMEDIATE;")
        shell.send("INSERT INTO note (body) VALUES ('shell');")
        shell.send("SELECT 'holding';")
        _ = try await shell.next("holding") { $0.text == "holding" }
        shell.send(".shell sleep 3")
        shell.send("COMMIT;")
        shell.closeInput()
        let first = worker.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('worker')"])
        let second = other.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('other')"])
        try await worker.end(of: first)
        try await other.end(of: second)
        let status = try await shell.exit()
        #expect(status == .exited(0))
        try await scene.expectShell("SELECT body FROM note ORDER BY id LIMIT 1", ["shell"])
        try await scene.expectShell("SELECT count(*) FROM note", ["3"])
      }
    }

    @Test func `a Python writer in a tight loop neither starves nor is starved`() async throws {
      try await withScene { scene in
        let first = try await scene.opened("first", ["lockTimeout": 60_000])
        let second = try await scene.opened("second", ["lockTimeout": 60_000])
        let python = try await scene.python(
          """
          import threading
          enough = threading.Event()
          threading.Thread(target=lambda: (sys.stdin.readline(), enough.set()), daemon=True).start()
          say("ready")
          n = 0
          while not enough.is_set() or n < 500:
              db.execute("BEGIN IMMEDIATE")
              db.execute("INSERT INTO note (body) VALUES ('python')")
              db.execute("COMMIT")
              n += 1
          say("written %d" % n)
          """)
        _ = try await python.next("ready") { $0.text == "ready" }
        let commands = [first, second].map {
          $0.begin("increment", ["sql": "UPDATE counter SET n = n + 1", "times": 300])
        }
        try await first.end(of: commands[0])
        try await second.end(of: commands[1])
        python.send("enough")
        let line = try await python.next("its count") { $0.text.hasPrefix("written") }
        let written = String(line.text.dropFirst("written ".count))
        try await scene.expectShell("SELECT n FROM counter", ["600"])
        try await scene.expectShell("SELECT count(*) FROM note", [written])
        try await scene.expectIntegrity()
      }
    }

    /// The log cannot start anew while a snapshot needs what it holds; that is said while it lasts, and
    /// is over when the reader ends.
    @Test
    func `a reader that keeps a snapshot holds the log back, is told, and then it is bounded`()
      async throws
    {
      try await withScene { scene in
        let bound = 1 << 20
        let writer = try await scene.opened(
          "writer", ["logBound": .integer(Int64(bound)), "lockTimeout": 60_000])
        try await writer.execute("INSERT INTO note (body) VALUES ('before')")
        let python = try await scene.python(
          """
          db.execute("BEGIN")
          n = db.execute("SELECT count(*) FROM note").fetchone()[0]
          say("reading")
          sys.stdin.readline()
          say("same" if db.execute("SELECT count(*) FROM note").fetchone()[0] == n else "other")
          db.execute("COMMIT")
          say("done")
          """)
        _ = try await python.next("reading") { $0.text == "reading" }
        let rows = """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
          INSERT INTO note (body) SELECT hex(randomblob(20)) FROM n
          """
        try await writer.perform("increment", ["sql": .text(rows), "times": 200])
        func log() async throws -> (bytes: Int, isHeldBack: Bool) {
          let status = try await writer.perform("status")["status"]
          let bytes = try #require(status?["writeAheadLogBytes"]?.int)
          let frames = try #require(status?["writeAheadLogFrames"]?.int)
          let copied = try #require(status?["checkpointedFrames"]?.int)
          return (bytes, copied < frames)
        }
        let during = try await log()
        #expect(during.bytes > 4 * bound, "the log was to grow: \(during.bytes)")
        #expect(during.isHeldBack)
        let locks = try await scene.children.start(built: "boutique-locks", ["--json", scene.path])
        _ = try await locks.exit()
        let report = locks.takeLines().joined(separator: "\n")
        #expect(report.contains("\(python.processID)"), "\(report)")

        python.send("go on")
        _ = try await python.next("the same rows") { $0.text == "same" }
        _ = try await python.next("done") { $0.text == "done" }
        // A commit now and then brings the checkpoint that was due all along; not only a thousand pages
        // more do.
        var more = 0
        var bytes = during.bytes
        while bytes > bound, more < 300 {
          try await writer.execute("INSERT INTO note (body) VALUES ('after')")
          more += 1
          bytes = try await log().bytes
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(bytes <= bound, "\(bytes) after \(more) commits")
        try await scene.expectShell("SELECT count(*) FROM note", ["\(1 + 200 * 500 + more)"])
        try await scene.expectIntegrity()
      }
    }
  }
}
