import BoutiqueDB
import ProcessHarness
import Testing

extension MultiProcess {
  /// The change feed over processes.
  @Suite struct FeedConsumerTests {
    @Test func `a killed consumer goes on after its last acknowledged commit`() async throws {
      try await withScene { scene in
        var random = SeededGenerator(for: "a killed consumer")
        let writer = try await scene.opened("writer")
        let start = try await writer.perform("token")["token"] ?? .null
        let appending = writer.begin(
          "increment",
          ["sql": "INSERT INTO note (body) VALUES ('x')", "times": 2000])
        // The last that was told, and the last of which it was told that it is acknowledged.
        var (seen, acknowledged) = (0, 0)
        for round in 0..<10 {
          let consumer = try await scene.opened("consumer \(round)")
          let feed = consumer.begin("consume", ["name": "mirror", "since": start])
          for count in 1...Int.random(in: 1...30, using: &random) {
            let change = try await consumer.event("change", of: feed)
            let key = change["key"]?.list?.first?.int ?? 0
            #expect(change["isEverything"] == false)
            if count == 1 {
              // Nothing is left out, and nothing acknowledged comes again.
              #expect(key > acknowledged && key <= seen + 1, "after \(acknowledged), \(seen)")
            } else {
              #expect(key == seen + 1)
            }
            seen = key
          }
          consumer.child.kill()
          _ = try await consumer.child.exit()
          func keys(_ event: JSONValue) -> [Int] {
            consumer.events(event, of: feed).compactMap { $0["key"]?.list?.first?.int }
          }
          seen = keys("change").last ?? seen
          acknowledged = keys("acknowledged").last ?? acknowledged
        }
        try await writer.end(of: appending)
        let last = try await scene.opened("last")
        let feed = last.begin("consume", ["name": "mirror"])
        var isFirst = true
        while seen < 2000 {
          let key = try await last.event("acknowledged", of: feed)["key"]?.list?.first?.int ?? 0
          let isNext = isFirst ? key > acknowledged && key <= seen + 1 : key == seen + 1
          #expect(isNext, "\(key) after \(acknowledged), \(seen)")
          if !isNext { break }
          (seen, isFirst) = (key, false)
        }
      }
    }

    @Test func `a name in use is refused with who uses it, and is free when that one dies`()
      async throws
    {
      try await withScene { scene in
        let first = try await scene.opened("the first")
        let second = try await scene.opened("the second")
        let start = try await first.perform("token")["token"] ?? .null
        let feed = first.begin("consume", ["name": "mirror", "since": start])
        try await second.execute("INSERT INTO note (body) VALUES ('x')")
        _ = try await first.event("acknowledged", of: feed)
        func refusal() async throws -> WorkerError? {
          do {
            try await second.perform("consume", ["name": "mirror"])
            return nil
          } catch let error as WorkerError {
            return error
          }
        }
        let refused = try await refusal()
        #expect(refused?.name == "consumerInUse")
        #expect(refused?.message.contains("pid \(first.processID) “the first”") == true)
        // One that is stopped still has it.
        await first.child.stop()
        let stopped = try await refusal()
        #expect(stopped?.name == "consumerInUse")
        first.child.kill()
        _ = try await first.child.exit()
        let taken = second.begin("consume", ["name": "mirror"])
        try await second.execute("INSERT INTO note (body) VALUES ('y')")
        let change = try await second.event("change", of: taken)
        #expect(change["key"] == [2])
      }
    }

    @Test func `a token handed to another process is waited for there`() async throws {
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        let reader = try await scene.opened("reader")
        for number in 1...100 {
          try await writer.execute("INSERT INTO note (body) VALUES ('x')")
          let token = try await writer.perform("token")["token"] ?? .null
          let answer = try await reader.perform(
            "waitFor", ["token": token, "sql": "SELECT count(*) FROM note"])
          #expect(answer["rows"] == [[.integer(Int64(number))]])
        }
        // Before it is made: by number, in a process that is stopped while it comes about.
        let now = try #require(
          try await writer.perform("token")["token"]?.string.flatMap { ChangeToken($0) })
        let next = ChangeToken(generation: now.generation, number: now.number + 2)
        let waiting = reader.begin(
          "waitFor",
          ["token": .text(next.description), "sql": "SELECT count(*) FROM note"])
        await reader.child.stop()
        try await writer.execute("INSERT INTO note (body) VALUES ('x')")
        reader.child.resume()
        let answer = try await reader.end(of: waiting)
        #expect(answer["rows"] == [[101]])
        let never = ChangeToken(generation: now.generation, number: now.number + 1000)
        do {
          try await reader.perform(
            "waitFor", ["token": .text(never.description), "timeout": 20, "sql": "SELECT 1"])
          Issue.record("it was reached")
        } catch let error as WorkerError {
          #expect(error.name == "waitTimedOut", "\(error)")
        }
      }
    }

    @Test func `who committed is known by pid and label, after their death, too`() async throws {
      try await withScene { scene in
        let db = try await BoutiqueDB.open(path: scene.path)
        var start = try await db.currentToken()
        var expected: [ChangeOrigin] = []
        for number in 0..<5 {
          let writer = try await scene.opened("writer \(number)")
          if number == 0 {
            // The tables are there now.
            start = try await db.currentToken()
          }
          try await writer.execute("INSERT INTO note (body) VALUES ('x')")
          expected.append(.process(pid: writer.processID, label: "writer \(number)"))
          writer.child.kill()
          _ = try await writer.child.exit()
        }
        try await db.write { _ = try $0.execute("INSERT INTO note (body) VALUES ('x')") }
        expected.append(.thisProcess)
        try await scene.shell("INSERT INTO note (body) VALUES ('x')")
        expected.append(.foreign)
        var origins: [ChangeOrigin] = []
        for try await change in db.changes(since: start, following: false) {
          origins.append(change.origin)
        }
        #expect(origins == expected)
        await db.close()
      }
    }

    @Test func `the feed of four writers and a foreign one, replayed, is the table at every point`()
      async throws
    {
      try await withScene { scene in
        let db = try await BoutiqueDB.open(path: scene.path)
        var writers: [WorkerProcess] = []
        for number in 1...4 { writers.append(try await scene.opened("writer \(number)")) }
        try await writers[0].execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
        // Each commit changes a row and its partner, or more such pairs.
        let put = """
          WITH r(n) AS MATERIALIZED (SELECT abs(random()) % 40)
          INSERT OR REPLACE INTO note (id, body)
          SELECT n, 'a' FROM r UNION ALL SELECT n + 1000, 'b' FROM r
          """
        let remove = "DELETE FROM note WHERE id % 1000 = (SELECT abs(random()) % 40)"
        let start = try await db.currentToken()
        let commands = zip(writers, [put, put, remove, put]).map { writer, sql in
          (writer, writer.begin("increment", ["sql": .text(sql), "times": 500]))
        }
        let foreign = try await scene.python(
          """
          for i in range(60):
              db.execute("INSERT INTO other (id) VALUES (?)", (i,))
          say("done")
          """)
        // What the table holds at some points, and their tokens.
        let looking = Task {
          var points: [Int64: Set<Int64>] = [:]
          while !Task.isCancelled {
            do {
              let (token, ids) = try await db.read { connection -> (Int64, Set<Int64>) in
                (
                  try connection.query("SELECT max(token) FROM boutiquedb_cdc")[0].decode(0),
                  Set(try connection.query("SELECT id FROM note").map { try $0.decode(0) })
                )
              }
              points[token] = ids
            } catch is CancellationError {
              break  // enough has been looked at
            }
            try? await Task.sleep(for: .milliseconds(3))
          }
          return points
        }
        for (writer, command) in commands { try await writer.end(of: command) }
        _ = try await foreign.next("its end") { $0.text == "done" }
        looking.cancel()
        let points = try await looking.value
        #expect(points.count > 10)

        var replayed = Set<Int64>()
        var last: Int64 = start.number
        var foreignCommits = 0
        var compared = 0
        for try await change in db.changes(since: start, following: false) {
          if change.isEverything {
            foreignCommits += 1
            continue
          }
          #expect(change.token.number > last)
          last = change.token.number
          var keys = Set<Int64>()
          for row in change.rows where row.table == "note" {
            guard case .integer(let id)? = row.key.first else { continue }
            keys.insert(id)
            if row.kind == .delete { replayed.remove(id) } else { replayed.insert(id) }
          }
          #expect(keys.allSatisfy { keys.contains($0 < 1000 ? $0 + 1000 : $0 - 1000) })
          if let point = points[last] {
            #expect(point == replayed, "at \(last)")
            compared += 1
          }
        }
        let table = try await db.read { connection in
          Set(try connection.query("SELECT id FROM note").map { try $0.decode(0, as: Int64.self) })
        }
        #expect(replayed == table)
        #expect(compared > 10)
        #expect(foreignCommits > 0)
        await db.close()
      }
    }
  }
}
