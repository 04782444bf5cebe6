import BoutiqueDB
import ProcessHarness
import Testing

extension BlackbirdProcesses {
  @Suite(.timeLimit(.minutes(2))) struct ChangeTests {
    @Test func `another process's changes come with their keys, columns and origin`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        try await a.write(1)
        try await a.write(2)
        let all = try await a.sink()
        let title = try await a.sink(["columns": ["title"]])
        let row = try await a.sink(["key": 2, "columns": ["score"]])
        try await b.execute("UPDATE Watched SET title = 'b' WHERE id = 1")
        try await b.execute("UPDATE Watched SET score = 5")
        try await b.execute("DELETE FROM Watched WHERE id = 2")
        var change = try await a.change(of: all)
        #expect(change["keys"] == [1])
        #expect(change["columns"] == ["title"])
        #expect(change["origin"] == "b")
        change = try await a.change(of: all)
        #expect(change["keys"] == [1, 2])
        #expect(change["columns"] == ["score"])
        change = try await a.change(of: title)
        #expect(change["keys"] == [1])
        change = try await a.change(of: title)
        #expect(change["keys"] == [2])
        #expect(change["columns"] == .null)
        change = try await a.change(of: row)
        #expect(change["keys"] == [2])
        #expect(change["columns"] == ["score"])
        change = try await a.change(of: row)
        #expect(change["columns"] == .null)
      }
    }

    @Test func `a subscription is in effect for others' writes when it is made`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        try await a.write(0)
        for number in 1...40 {
          let sink = try await a.sink()
          try await b.write(number)
          let change = try await a.change(of: sink)
          // What was committed before it came is not told, and the write comes precisely.
          #expect(change["keys"] == [.integer(Int64(number))])
          try await a.perform("watched.unsink", ["of": .integer(Int64(sink))])
        }
      }
    }

    @Test func `a subscription made amid another's storm of writes misses none`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        let c = try await scene.opened("c")
        try await a.write(1)
        try await a.write(2)
        let storm = b.begin("watched.add", ["number": 1, "times": 400])
        _ = try await b.event("ack", of: storm)
        for number in 10..<30 {
          let sink = try await a.sink(["key": .integer(Int64(number))])
          try await c.write(number)
          let change = try await a.change(of: sink)
          #expect(change["keys"] == [.integer(Int64(number))] || change["keys"] == .null)
          try await a.perform("watched.unsink", ["of": .integer(Int64(sink))])
        }
        try await b.end(of: storm)
      }
    }

    @Test func `the shell's commits arrive`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        try await a.write(1)
        let sink = try await a.sink()
        try await scene.shell("UPDATE Watched SET score = 5")
        let change = try await a.change(of: sink)
        #expect(change["keys"] == .null)
        #expect(change["origin"] == "foreign")
        try await a.write(2)
        let own = try await a.change(of: sink)
        #expect(own["keys"] == [2])
        #expect(own["origin"] == "this")
      }
    }

    @Test func `two processes that write and observe hear of every commit of both`() async throws {
      try await withDatabaseScene { scene in
        let workers = [try await scene.opened("a"), try await scene.opened("b")]
        try await workers[0].write(0)
        var sinks: [Int] = []
        for worker in workers { sinks.append(try await worker.sink()) }
        for round in 0..<100 {
          async let one: Void = workers[0].write(1000 + round)
          async let other: Void = workers[1].write(2000 + round)
          _ = try await (one, other)
        }
        for (worker, sink) in zip(workers, sinks) {
          var keys: Set<Int> = []
          while keys.count < 200 {
            let change = try await worker.change(of: sink)
            guard let list = change["keys"]?.list else {
              Issue.record("after \(keys.count) keys: \(change)")
              return
            }
            keys.formUnion(list.compactMap(\.int))
          }
          #expect(keys == Set(1000..<1100).union(2000..<2100))
        }
      }
    }

    @Test func `a process that was stopped catches up, and misses nothing`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        // Who has just written may hold the lease a moment longer, and must not be stopped then.
        try await b.write(0)
        let sink = try await a.sink()
        a.stop()
        for number in 1...200 { try await b.write(number) }
        a.goOn()
        var keys: Set<Int> = []
        while keys.count < 200 {
          let change = try await a.change(of: sink)
          guard let list = change["keys"]?.list else {
            keys = Set(1...200)
            break
          }
          keys.formUnion(list.compactMap(\.int))
        }
        #expect(keys == Set(1...200))
      }
    }

    @Test func `columns have the names of their commit, however late a process reads of it`()
      async throws
    {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        // Who has just written may hold the lease a moment longer, and must not be stopped then.
        try await b.write(1)
        let sink = try await a.sink()
        // The tables were looked at when this has arrived.
        try await b.execute("UPDATE Watched SET title = 'x'")
        _ = try await a.change(of: sink)
        a.stop()
        try await b.execute("UPDATE Watched SET score = 1")
        try await b.execute("ALTER TABLE Watched DROP COLUMN title")
        // The second column now; it was the third before, and has another name after.
        try await b.execute("UPDATE Watched SET score = 2")
        try await b.execute("ALTER TABLE Watched RENAME COLUMN score TO points")
        try await b.execute("UPDATE Watched SET points = 3")
        a.goOn()
        var changes: [JSONValue] = []
        for _ in 0..<5 { changes.append(try await a.change(of: sink)) }
        #expect(changes[0]["columns"] == ["score"])
        #expect(changes[1]["columns"] == .null)
        #expect(changes[2]["columns"] == .null || changes[2]["columns"] == ["score"])
        #expect(changes[4]["columns"] == ["points"])
        try await b.execute("UPDATE Watched SET points = 4")
        let last = try await a.change(of: sink)
        #expect(last["columns"] == ["points"])
      }
    }

    @Test func `a hundred publishers of one process hear of another's write`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        try await a.write(0)
        let sink = try await a.sink(["publishers": 100])
        try await b.write(1)
        var heard: Set<Int> = []
        while heard.count < 100 {
          let change = try await a.change(of: sink)
          #expect(change["keys"] == [1])
          if let publisher = change["publisher"]?.int { heard.insert(publisher) }
        }
        try await a.perform("watched.unsink", ["of": .integer(Int64(sink))])
        try await b.write(2)
        try await a.write(3)
      }
    }

    @Test func `a writer that is killed leaves nothing half told`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        try await a.write(1)
        let sink = try await a.sink()
        let adding = b.begin("watched.add", ["number": 1, "times": 100_000])
        var acknowledged = 0
        while acknowledged < 50 {
          acknowledged = try await b.event("ack", of: adding)["score"]?.int ?? 0
        }
        b.child.kill()
        try await a.write(2)
        var last: JSONValue = .null
        repeat { last = try await a.change(of: sink) } while last["keys"] != [2]
        let rows = try await a.query("SELECT score FROM Watched WHERE id = 1")
        let score = rows.list?.first?["score"]?.int ?? 0
        #expect(score >= acknowledged)
        try await scene.expectIntegrity()
      }
    }
  }
}
