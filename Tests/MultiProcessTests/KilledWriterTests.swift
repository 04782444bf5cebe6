import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// kill -9 of writers: others go on, nothing acknowledged is lost, nothing half done is seen.
  @Suite struct KilledWriterTests {
    /// ```
    /// victim n                 steady              watcher
    /// append 1, 2, 3 …         append, for ever    observe the invariant, follow the feed
    /// killed after some acks
    ///                          goes on
    /// victim n + 1 …
    /// ```
    @Test func `two hundred killed writers cost nobody anything`() async throws {
      var random = SeededGenerator(for: "two hundred killed writers")
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 100])
        let watch = watcher.begin("observe", ["sql": .text(Scene.invariant)])
        let feed = watcher.begin("changes")
        _ = try await watcher.event("following", of: feed)
        // A small bound makes checkpoints frequent, so that kills fall into them, too.
        let small: [String: JSONValue] = ["poll": 100, "logBound": 65_536]
        let steady = try await scene.opened("steady", small)
        let steadyAppend = steady.begin(
          "append", ["writer": "steady", "perSecond": 200, "sql": Scene.transfer])

        // Reported, not judged: a loaded machine may take its time.
        let clock = ContinuousClock()
        var longest = Duration.zero
        var acknowledged: [String: Int] = [:]
        var next = try await scene.opened("victim 1", small)
        for round in 1...200 {
          let victim = next
          let name = "victim \(round)"
          let append = victim.begin(
            "append", ["writer": .text(name), "sql": Scene.transfer])
          // The next victim starts beside this one, which saves half of the time.
          async let following = scene.opened("victim \(round + 1)", small)
          let enough = Int64.random(in: 1...12, using: &random)
          _ = try await victim.event("ack", of: append) { $0["number"] == .integer(enough) }
          usleep(UInt32.random(in: 0...2000, using: &random))
          victim.child.kill()
          let status = try await victim.child.exit()
          #expect(status == .signalled(SIGKILL))
          let last = victim.events("ack", of: append).compactMap { $0["number"]?.int }.max()
          acknowledged[name] = max(Int(enough), last ?? 0)
          // What was acknowledged before the kill is taken; the next one comes after it.
          _ = steady.events("ack", of: steadyAppend)
          let killed = clock.now
          _ = try await steady.event("ack", of: steadyAppend)
          longest = max(longest, clock.now - killed)
          next = try await following
        }
        print("after a kill, the other writer's next commit came within \(longest)")
        try await steady.cancel(steadyAppend)

        let length = try await expectStored(acknowledged, scene)

        // Whatever the watcher saw was whole and never went back, and it ended at the truth.
        let final: JSONValue = [[0, .integer(length), .integer(length)]]
        var lengths: [Int] = []
        for value in try await watcher.values(of: watch, until: { $0 == final }) {
          let numbers = value.list?.first?.list?.compactMap(\.int) ?? []
          try #require(numbers.count == 3)
          #expect(numbers[0] == 0 && numbers[1] == numbers[2], "a half transaction: \(numbers)")
          lengths.append(numbers[2])
        }
        #expect(lengths == lengths.sorted())

        try await expectWholeFeed(watcher, feed, length: Int(length))
      }
    }

    /// The feed gave each commit to the log once and in order, or said that it could not tell.
    private func expectWholeFeed(_ watcher: WorkerProcess, _ feed: Int, length: Int) async throws {
      // Everything before this commit has been delivered when it is.
      try await watcher.execute("INSERT INTO note (body) VALUES ('the end')")
      let last = try await watcher.event("change", of: feed) {
        $0["tables"]?.list?.contains("note") ?? false
      }
      let changes = watcher.events("change", of: feed)
      let positions = (changes + [last]).compactMap { $0["number"]?.int }
      #expect(positions == positions.sorted())
      let gaps = changes.filter { $0["isEverything"] == true }.count
      let commits = changes.filter { $0["tables"]?.list?.contains("log") ?? false }.count
      print("feed of \(length) commits: \(commits) one by one, \(gaps) times “everything”")
      // A writer killed while it changed the WAL index makes SQLite rebuild it, and the change counter
      // begins anew: then, and only then, the feed says “everything”.
      if gaps == 0 {
        #expect(commits == length)
      } else {
        #expect(commits <= length)
      }
      #expect(gaps <= 20, "\(gaps) of 200 kills made the feed lose its place")
    }

    /// Kills fall into opening, the last close with its checkpoint, and everything between.
    @Test func `processes killed while they come and go cost nobody anything`() async throws {
      var random = SeededGenerator(for: "processes killed while they come and go")
      try await withScene { scene in
        var acknowledged: [String: Int] = [:]
        for round in 1...60 {
          let victim = try await scene.worker()
          let name = "victim \(round)"
          let appends = orderLives(40, of: name, in: victim, scene)
          _ = try await victim.event("ack", of: appends[0])
          usleep(UInt32.random(in: 0...40_000, using: &random))
          victim.child.kill()
          try await victim.child.exit()
          let last = appends.flatMap { victim.events("ack", of: $0) }.compactMap {
            $0["number"]?.int
          }.max()
          acknowledged[name] = last ?? 1
        }
        try await expectStored(acknowledged, scene)
      }
    }

    /// Tells a worker to open, append three numbers and close, again and again, and returns the numbers of
    /// the commands that append.
    private func orderLives(
      _ count: Int, of name: String, in victim: WorkerProcess, _ scene: Scene
    ) -> [Int] {
      var last: JSONValue = nil
      return (0..<count).map { life in
        let open = victim.begin(
          "open", scene.opening(name, ["logBound": 65_536, "after": last]))
        let append = victim.begin(
          "append",
          [
            "writer": .text(name), "from": .integer(Int64(3 * life + 1)), "count": 3,
            "sql": Scene.transfer, "after": .integer(Int64(open)),
          ])
        last = .integer(Int64(victim.begin("close", ["after": .integer(Int64(append))])))
        return append
      }
    }

    @Test func `when all are killed at once the next to open finds everything`() async throws {
      var random = SeededGenerator(for: "when all are killed at once")
      try await withScene { scene in
        var acknowledged: [String: Int] = [:]
        for round in 1...12 {
          var victims: [(WorkerProcess, Int, String)] = []
          for number in 1...5 {
            let name = "\(round).\(number)"
            let worker = try await scene.opened(name, number == 1 ? ["logBound": 65_536] : [:])
            let append = worker.begin("append", ["writer": .text(name), "sql": Scene.transfer])
            victims.append((worker, append, name))
          }
          for (worker, append, _) in victims {
            _ = try await worker.event("ack", of: append) { $0["number"] == 5 }
          }
          usleep(UInt32.random(in: 0...5000, using: &random))
          for (worker, _, _) in victims { worker.child.kill() }
          for (worker, append, name) in victims {
            try await worker.child.exit()
            let last = worker.events("ack", of: append).compactMap { $0["number"]?.int }.max()
            acknowledged[name] = max(5, last ?? 5)
          }
        }
        try await expectStored(acknowledged, scene)
      }
    }

    /// Whatever was acknowledged is there, at most one number more, and the accounts agree.
    @discardableResult
    private func expectStored(_ acknowledged: [String: Int], _ scene: Scene) async throws -> Int64 {
      var stored: [String: Int] = [:]
      for line in try await scene.shell(
        "SELECT writer, count(*), max(number) FROM log GROUP BY writer")
      {
        let fields = line.split(separator: "|").map(String.init)
        #expect(fields[1] == fields[2], "\(fields[0]) has a hole in its numbers")
        stored[fields[0]] = Int(fields[1])
      }
      for (name, number) in acknowledged {
        let kept = stored[name] ?? 0
        #expect(kept >= number, "\(name) had \(number) acknowledged and \(kept) are there")
        #expect(kept <= number + 1, "\(name) wrote more than it was asked")
      }
      let truth = try await scene.shell(Scene.invariant).first ?? ""
      let length = try #require(truth.split(separator: "|").last.flatMap { Int64($0) })
      #expect(truth == "0|\(length)|\(length)")
      try await scene.expectIntegrity()
      return length
    }

    @Test func `a process killed inside its transaction delays nobody`() async throws {
      try await withScene { scene in
        let other = try await scene.opened("other")
        for round in 1...10 {
          let victim = try await scene.opened("victim")
          victim.begin(
            "transact", ["sql": ["INSERT INTO note (body) VALUES ('lost')"], "end": "crash"])
          let status = try await victim.child.exit()
          #expect(status == .signalled(SIGKILL))
          try await other.execute("UPDATE counter SET n = n + 1")
          try await other.expectIntegers("SELECT n FROM counter", [round])
        }
        try await other.expectIntegers("SELECT count(*) FROM note", [0])
        try await scene.expectIntegrity()
      }
    }

    /// ```
    /// holder        victim         third
    /// holds
    ///               waits
    ///                              waits behind it
    ///               killed
    /// commits
    ///                              commits
    /// ```
    @Test func `a process killed in line delays nobody behind it`() async throws {
      try await withScene { scene in
        let holder = try await scene.opened("holder")
        let third = try await scene.opened("third")
        for round in 1...10 {
          let victim = try await scene.opened("victim")
          let held = holder.begin("hold", ["sql": ["UPDATE counter SET n = n + 1"]])
          _ = try await holder.event("holding", of: held)
          victim.begin("exec", ["sql": "INSERT INTO note (body) VALUES ('lost')"])
          try await scene.waitUntilInLine(victim)
          let behind = third.begin("exec", ["sql": "UPDATE counter SET n = n + 10"])
          try await scene.waitUntilInLine(third)
          victim.child.kill()
          try await victim.child.exit()
          try await holder.perform("release", ["of": .integer(Int64(held))])
          try await holder.end(of: held)
          try await third.end(of: behind)
          try await third.expectIntegers("SELECT n FROM counter", [11 * round])
        }
        try await third.expectIntegers("SELECT count(*) FROM note", [0])
      }
    }
  }
}
