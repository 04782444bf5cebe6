import ProcessHarness
import Testing

extension MultiProcess {
  /// The first value and what follows it, while others write as fast as they can be paced.
  @Suite struct ObservationOrderTests {
    @Test func `observers that start under a thousand writes a second end at the truth`()
      async throws
    {
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        let readers = [try await scene.opened("near"), try await scene.opened("far")]
        let append = writer.begin(
          "append",
          ["writer": "w", "count": 4000, "perSecond": 1000, "sql": Scene.transfer])

        // One observer after the other, each while the writer is somewhere else.
        var observers: [(WorkerProcess, Int, Int)] = []
        for number in 1...30 {
          let ack = try await writer.event("ack", of: append) {
            ($0["number"]?.int ?? 0) >= 100 * number
          }
          let reader = readers[number % 2]
          let id = reader.begin("observe", ["sql": .text(Scene.invariant)])
          observers.append((reader, id, ack["number"]?.int ?? 0))
        }
        try await writer.end(of: append)

        for (reader, id, acknowledged) in observers {
          let values = try await reader.values(of: id) { $0 == [[0, 4000, 4000]] }
          let numbers = values.map { $0.list?.first?.list?.compactMap(\.int) ?? [] }
          let lengths = numbers.compactMap(\.last)
          let first = try #require(lengths.first)
          #expect(first >= acknowledged, "the first value is older than the observation")
          #expect(lengths == lengths.sorted(), "a value went back")
          #expect(Set(lengths).count == lengths.count, "a value came twice")
          #expect(numbers.allSatisfy { $0[0] == 0 && $0[1] == $0[2] }, "half a transaction")
        }
        // At rest, nothing more comes: a marker is the next thing that anyone sees.
        try await writer.execute("UPDATE account SET amount = amount + 1 WHERE id = 1")
        for (reader, id, _) in observers {
          try await reader.expectValue(of: id, [[1, 4000, 4000]])
        }
      }
    }

    /// The query is slow, so that commits fall into its runs; in each round the last of them is the one
    /// that matters, since nothing comes after it to make up for it.
    @Test func `a commit that falls into a running query is not lost`() async throws {
      var random = SeededGenerator(for: "a commit that falls into a running query")
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        let other = try await scene.opened("other")
        let slow = """
          SELECT n, (WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) \
          SELECT count(*) FROM c) FROM counter
          """
        var observers: [(WorkerProcess, Int)] = []
        for worker in [writer, other, writer, other] {
          observers.append((worker, try await worker.observe(slow).0))
        }
        var total: Int64 = 0
        for _ in 1...60 {
          let times = Int64.random(in: 1...12, using: &random)
          try await writer.perform(
            "increment",
            ["sql": "UPDATE counter SET n = n + 1 WHERE id = 1", "times": .integer(times)])
          total += times
          let truth: JSONValue = [[.integer(total), 20_000]]
          for (worker, watch) in observers {
            _ = try await worker.values(of: watch) { $0 == truth }
          }
        }
      }
    }

    @Test func `a feed that starts under writes continues from its token without a gap`()
      async throws
    {
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        let reader = try await scene.opened("reader")
        let token = try await reader.perform("token")["token"] ?? .null
        let append = writer.begin("append", ["writer": "w", "count": 2000, "perSecond": 1000])
        _ = try await writer.event("ack", of: append) { $0["number"] == 500 }
        let feed = reader.begin("changes", ["since": token])
        try await writer.end(of: append)
        try await writer.execute("INSERT INTO note (body) VALUES ('the end')")
        let last = try await reader.event("change", of: feed) {
          $0["tables"]?.list?.contains("note") ?? false
        }
        let changes = reader.events("change", of: feed)
        #expect(changes.count == 2000)
        #expect(changes.allSatisfy { $0["tables"] == ["log"] && $0["rows"] == 1 })
        #expect(changes.allSatisfy { $0["isEverything"] == false })
        #expect(
          changes.allSatisfy { $0["origin"]?["pid"]?.int == Int(writer.processID) })
        let positions = (changes + [last]).compactMap { $0["number"]?.int }
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
      }
    }
  }
}
