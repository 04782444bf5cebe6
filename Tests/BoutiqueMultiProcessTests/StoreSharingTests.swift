import Foundation
import ProcessHarness
import TestDatabase
import Testing

extension StoresOfSeveralProcesses {
  /// Processes that follow one another.
  @Suite struct StoreSharingTests {
    @Test(arguments: StoreEngineName.allCases)
    func `what one process writes the other has, in the same order, and neither loses anything`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        let first = try await scene.opened("first")
        let second = try await scene.opened("second")
        try await first.insert([["zeta", "1"], ["alpha", "2"]])
        try await second.insert([["mid", "3"]])
        try await first.insert([["beta", "4"], ["alpha", "new"]])
        let all = [["zeta", "1"], ["alpha", "new"], ["mid", "3"], ["beta", "4"]]
        try await first.waitFor(all)
        try await second.waitFor(all)
        try await second.remove(["zeta", "beta"])
        try await first.waitFor([["alpha", "new"], ["mid", "3"]])
        // What was removed does not come back by what another writes.
        try await first.insert([["last", "5"]])
        try await second.waitFor([["alpha", "new"], ["mid", "3"], ["last", "5"]])
        #expect(try await scene.onDisk() == [["alpha", "new"], ["mid", "3"], ["last", "5"]])
      }
    }

    @Test func `events say which changes were another's, and whose`() async throws {
      try await withStoreScene { scene in
        let first = try await scene.opened("first")
        let second = try await scene.opened("second")
        let events = first.begin("store.events")
        #expect(try await first.event("event", of: events)["operation"] == "loaded")
        try await first.insert([["a", "1"]])
        let own = try await first.event("event", of: events)
        #expect(own["isExternal"] == false && own["origin"] == "thisStore")
        try await second.waitFor([["a", "1"]])
        try await second.insert([["b", "2"], ["a", "2"]])
        let inserted = try await first.event("event", of: events)
        #expect(inserted["operation"] == "insert")
        #expect(inserted["items"] == [["a", "2"], ["b", "2"]])
        #expect(inserted["isExternal"] == true)
        #expect(inserted["origin"]?["pid"]?.int == Int(second.child.processID))
        #expect(inserted["origin"]?["label"] == "second")
        try await second.remove(["a"])
        let removed = try await first.event("event", of: events)
        #expect(removed["operation"] == "remove" && removed["items"] == [["a", "2"]])
        #expect(removed["isExternal"] == true)
      }
    }

    @Test(arguments: StoreEngineName.allCases)
    func `processes that write at once end with the same, and each has all that was inserted`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        let count = engine == .sqlite ? 200 : 40
        var workers: [StoreWorker] = []
        for label in ["a", "b", "c"] { workers.append(try await scene.opened(label)) }
        let writing = zip(workers, ["a", "b", "c"]).map { worker, prefix in
          worker.begin(
            "store.insertEach", ["prefix": .text(prefix), "count": .integer(Int64(count))])
        }
        for (worker, id) in zip(workers, writing) { try await worker.end(of: id) }
        let disk = try await scene.onDisk()
        #expect(disk.count == 3 * count)
        for worker in workers { try await worker.waitFor(disk) }
        for prefix in ["a", "b", "c"] {
          // Each process's own order is kept among the others'.
          let own = disk.map { $0[0] }.filter { $0.hasPrefix(prefix) }
          #expect(own == (0..<count).map { "\(prefix)\($0)" })
        }
      }
    }

    @Test(arguments: StoreEngineName.allCases)
    func `whatever is done at once, memory is in the end what the disk has`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        var workers: [StoreWorker] = []
        for label in ["a", "b", "c"] { workers.append(try await scene.opened(label)) }
        for round in 0..<3 {
          let writing = workers.enumerated().map { index, worker in
            worker.begin(
              "store.churn",
              [
                "seed": .integer(Int64(round * 3 + index + 1)), "keys": 40,
                "count": engine == .sqlite ? 300 : 30,
              ])
          }
          for (worker, id) in zip(workers, writing) { try await worker.end(of: id) }
          let disk = try await scene.onDisk()
          for worker in workers { try await worker.waitFor(disk) }
        }
      }
    }

    @Test func `half of another process's chain is never seen`() async throws {
      try await withStoreScene { scene in
        let writer = try await scene.opened("writer")
        let watcher = try await scene.opened("watcher")
        let watch = watcher.begin("store.watch", ["prefix": "w", "count": 20])
        // The watcher's own writes make it read just when the writer is writing.
        let own = watcher.begin("store.insertEach", ["prefix": "own", "count": 400])
        try await writer.perform("store.batches", ["prefix": "w", "size": 20, "count": 400])
        try await watcher.end(of: own)
        try await writer.insert([["end", ""]])
        let seen = try await watcher.event("seen", of: watch)
        #expect((seen["count"]?.int ?? 0) > 20)
        try await watcher.end(of: watch)
        #expect(watcher.child.takeMessages { $0["event"] == "torn" }.isEmpty)
      }
    }

    @Test(arguments: StoreEngineName.allCases)
    func `a process that slept through ten thousand changes catches up`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        let writer = try await scene.opened("writer")
        let sleeper = try await scene.opened("sleeper")
        try await writer.insert((0..<50).map { ["old\($0)", "old"] })
        try await sleeper.perform("store.waitFor", ["count": 50])
        await sleeper.child.stop()
        try await writer.remove((0..<25).map { "old\($0)" })
        let count = engine == .sqlite ? 10_000 : 500
        try await writer.perform(
          "store.insertEach", ["prefix": "new", "count": .integer(Int64(count))])
        // Asked for before it has read anything: what it writes must not bring back what is gone.
        let writing = sleeper.begin("store.insert", ["items": [["mine", "1"]]])
        sleeper.child.resume()
        try await sleeper.end(of: writing)
        let disk = try await scene.onDisk()
        #expect(disk.count == 25 + count + 1)
        #expect(disk.first == ["old25", "old"] && disk.last == ["mine", "1"])
        try await sleeper.waitFor(disk)
        try await writer.waitFor(disk)
      }
    }

    @Test func `a store that is opened while others write begins with what is there`() async throws
    {
      try await withStoreScene { scene in
        let writer = try await scene.opened("writer")
        let writing = writer.begin("store.insertEach", ["prefix": "w", "count": 500])
        var late: [StoreWorker] = []
        for number in 0..<4 { late.append(try await scene.opened("late \(number)")) }
        try await writer.end(of: writing)
        let all = (0..<500).map { ["w\($0)", "w"] }
        for worker in late { try await worker.waitFor(all) }
      }
    }
  }
}
