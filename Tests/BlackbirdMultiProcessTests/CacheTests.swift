import BoutiqueDB
import ProcessHarness
import Testing

extension BlackbirdProcesses {
  @Suite(.timeLimit(.minutes(2))) struct CacheTests {
    @Test func `a read that begins after another process's commit gives the new value`()
      async throws
    {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        try await a.write(1)
        try await a.write(2)
        for round in 1...100 {
          let other = round.isMultiple(of: 2)
          if other { try await b.perform("watched.add", ["number": 2]) }
          try await b.perform("watched.add", ["number": 1, "cached": true])
          // Nothing is waited for in between: no bell, no feed.
          let first = try await a.read(1)
          #expect(first == round)
          let again = try await a.read(1)
          #expect(again == round)
        }
        let hits = try await a.perform("watched.read", ["number": 1])["hits"]?.int ?? 0
        #expect(hits >= 100)
      }
    }

    @Test func `a read that begins after a commit of the shell gives the new value`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        try await a.write(1)
        for round in 1...20 {
          let before = try await a.read(1)
          #expect(before == round - 1)
          try await scene.shell("UPDATE Watched SET score = \(round) WHERE id = 1")
          let after = try await a.read(1)
          #expect(after == round)
        }
      }
    }

    @Test func `a counter read through the cache never goes back, nor behind an acknowledgement`()
      async throws
    {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        let c = try await scene.opened("c")
        try await a.write(1)
        let writing = b.begin("watched.add", ["number": 1, "times": 300, "cached": true])
        let alsoWriting = c.begin("watched.add", ["number": 1, "times": 300])
        var acknowledged = 0
        var last = 0
        while last < 600 {
          for (worker, id) in [(b, writing), (c, alsoWriting)] {
            for event in worker.child.takeMessages(where: {
              $0["re"]?.int == id && $0["event"] == "ack"
            }) {
              acknowledged = max(acknowledged, event["score"]?.int ?? 0)
            }
          }
          let score = try await a.read(1)
          guard score >= acknowledged, score >= last else {
            Issue.record("read \(score), after \(acknowledged) was acknowledged and \(last) read")
            return
          }
          last = score
        }
        try await b.end(of: writing)
        try await c.end(of: alsoWriting)
      }
    }

    @Test func `a process that was stopped reads no old value when it goes on`() async throws {
      try await withDatabaseScene { scene in
        let a = try await scene.opened("a")
        let b = try await scene.opened("b")
        // Who has just written may hold the lease a moment longer, and must not be stopped then.
        try await b.write(1)
        for round in 1...5 {
          _ = try await a.read(1)
          a.stop()
          // The command lies in the pipe before the commit, and is read after it.
          try await b.perform("watched.add", ["number": 1])
          let reading = a.begin("watched.read", ["number": 1])
          a.goOn()
          let score = try await a.end(of: reading)["score"]?.int
          #expect(score == round)
        }
      }
    }
  }
}
