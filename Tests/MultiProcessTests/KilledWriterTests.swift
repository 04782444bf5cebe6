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
        let steady = try await scene.opened("steady", ["poll": 100])
        let steadyAppend = steady.begin(
          "append", ["writer": "steady", "perSecond": 200, "sql": Scene.transfer])

        // Reported, not judged: a loaded machine may take its time.
        let clock = ContinuousClock()
        var longest = Duration.zero
        var acknowledged: [String: Int] = [:]
        var next = try await scene.opened("victim 1")
        for round in 1...200 {
          let victim = next
          let name = "victim \(round)"
          let append = victim.begin(
            "append", ["writer": .text(name), "sql": Scene.transfer])
          // The next victim starts beside this one, which saves half of the time.
          async let following = scene.opened("victim \(round + 1)")
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

        // The truth, from outside.
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
