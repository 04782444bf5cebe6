import Glibc
import ProcessHarness
import Testing

private let ghost: JSONValue = ["INSERT INTO note (body) VALUES ('ghost')"]

extension MultiProcess {
  /// What did not happen is neither stored nor delivered, here or elsewhere.
  @Suite struct NothingDeliveredTests {
    @Test(arguments: ["throw", "cancel", "rollBackSavepoint"])
    func `a transaction that did not happen is not seen`(end: String) async throws {
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        let other = try await scene.opened("other")
        let query = "SELECT body FROM note ORDER BY id"
        let watchers = [
          (writer, try await writer.observe(query).0), (other, try await other.observe(query).0),
        ]
        let feed = other.begin("changes")
        _ = try await other.event("following", of: feed)

        let command = writer.begin("transact", ["sql": ghost, "end": .text(end)])
        if end == "rollBackSavepoint" {
          try await writer.end(of: command)
        } else {
          let error = await #expect(throws: WorkerError.self) { try await writer.end(of: command) }
          #expect(error?.name == (end == "cancel" ? "cancelled" : "PlannedFailure"))
        }
        try await writer.execute("INSERT INTO note (body) VALUES ('real')")

        // The next thing that anyone sees is the real one.
        for (worker, watch) in watchers {
          try await worker.expectValue(of: watch, [["real"]])
        }
        let change = try await other.event("change", of: feed)
        #expect(change["tables"] == ["note"] && change["rows"] == 1, "\(change)")
        try await scene.expectShell("SELECT body FROM note", ["real"])
      }
    }

    @Test func `a transaction of a process that died in it is not seen`() async throws {
      try await withScene { scene in
        let other = try await scene.opened("other")
        let (watch, _) = try await other.observe("SELECT body FROM note")
        let victim = try await scene.opened("victim")
        victim.begin("transact", ["sql": ghost, "end": "crash"])
        #expect(try await victim.child.exit() == .signalled(SIGKILL))
        try await other.execute("INSERT INTO note (body) VALUES ('real')")
        try await other.expectValue(of: watch, [["real"]])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a write that is cancelled at any moment is whole or absent`() async throws {
      var random = SeededGenerator(for: "a write that is cancelled")
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        // A thousand rows make the transaction long enough to be cancelled inside.
        var statements = Scene.transfer.list ?? []
        statements.append(
          """
          INSERT INTO note (body) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
          WHERE i < 1000) SELECT i FROM n
          """)
        var (committed, cancelled) = (0, 0)
        for number in 1...300 {
          let command = writer.begin(
            "append", ["writer": .text("task \(number)"), "count": 1, "sql": .list(statements)])
          usleep(UInt32.random(in: 0...1500, using: &random))
          writer.begin("cancel", ["of": .integer(Int64(command))])
          do {
            try await writer.end(of: command)
            committed += 1
          } catch let error as WorkerError {
            #expect(error.name == "cancelled", "\(error)")
            // Cancelled after its acknowledgement: the write itself had returned.
            let acknowledged = writer.events("ack", of: command).count
            committed += acknowledged
            cancelled += 1 - acknowledged
          }
        }
        print("of 300 writes \(committed) were committed and \(cancelled) cancelled")
        try await writer.expectIntegers(Scene.invariant, [0, committed, committed])
        try await writer.expectIntegers("SELECT count(*) FROM note", [1000 * committed])
      }
    }
  }
}
