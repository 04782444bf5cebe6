import Foundation
import ProcessHarness
import TestDatabase
import Testing

extension StoresOfSeveralProcesses {
  /// Processes that die, and disks that are full.
  @Suite struct StoreTroubleTests {
    @Test(arguments: StoreEngineName.allCases)
    func `a process killed in the midst of its chains leaves none half done`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        let survivor = try await scene.opened("survivor")
        for round in 0..<8 {
          let victim = try await scene.opened("victim")
          let batches = victim.begin("store.batches", ["prefix": .text("v\(round)-"), "size": 30])
          var number = -1
          while number < round {
            number = try await victim.event("batch", of: batches)["number"]?.int ?? .max
          }
          // Somewhere in the next one, another place each round.
          try await Task.sleep(for: .microseconds(round * 700))
          victim.child.kill()
          await victim.child.end()
          let disk = try await scene.onDisk()
          let group = disk.filter { $0[0].hasPrefix("v\(round)-") }
          #expect(group.count == 30 && Set(group.map { $0[1] }).count == 1, "\(group)")
          #expect((group.first.flatMap { Int($0[1]) } ?? -1) >= number)
          try await survivor.waitFor(disk)
          try await survivor.insert([["after \(round)", ""]])
        }
        // Nothing is left lying about.
        guard engine == .disk else { return }
        let files = FileManager.default
        #expect(try files.contentsOfDirectory(atPath: scene.directory + "/store/.new").isEmpty)
        #expect(!files.fileExists(atPath: scene.directory + "/store/.journal"))
      }
    }

    @Test(
      .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")),
      arguments: ["rename", "unlink"])
    func `a process that dies at any step of a chain on files leaves all of it or nothing`(
      _ call: String
    ) async throws {
      try await withStoreScene(.disk) { scene in
        let old = [["a", "old"], ["b", "old"], ["c", "old"]]
        let new = [["d", "new"], ["b", "new"], ["e", "new"]]
        let first = try await scene.opened("first")
        var outcomes: Set<String> = []
        for step in 1...6 {
          try await first.perform("store.removeAll")
          try await first.insert(old)
          // Dies at so many such calls of one thread. Nothing to test where nobody may trace.
          let victim = try await scene.children.start(
            ChildCommand(
              "strace",
              [
                "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=?\(call)", "-e",
                "inject=?\(call):signal=KILL:when=\(step)",
                try BuiltExecutable.path("boutique-test-worker"),
              ]))
          guard let worker = try? await scene.ready(victim) else { return }
          try await scene.open(in: worker, "victim")
          worker.begin(
            "store.replace", ["old": StoreWorker.list(old), "items": StoreWorker.list(new)])
          _ = try? await victim.nextMessage("the end", within: .seconds(60)) {
            $0["event"] == "done"
          }
          await victim.end()
          let disk = try await scene.onDisk()
          #expect(disk == old || disk == new, "\(call) \(step): \(disk)")
          outcomes.insert(disk == old ? "old" : "new")
          try await first.waitFor(disk)
        }
        if call == "rename" { #expect(outcomes == ["old", "new"]) }
      }
    }

    @Test(arguments: StoreEngineName.allCases)
    func `a full disk leaves memory as it was, and work goes on when there is room`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        // Alone in a mount namespace; nothing to test where the kernel allows this user none.
        let probe = try await scene.children.start(
          ChildCommand("unshare", ["--map-root-user", "--mount", "true"]))
        guard try await probe.exit() == .exited(0) else { return }
        let script = #"mount -t tmpfs -o size=3m none "$1" && exec "$2""#
        let worker = try await scene.ready(
          try await scene.children.start(
            ChildCommand(
              "unshare",
              [
                "--map-root-user", "--mount", "sh", "-c", script, "sh", scene.directory,
                try BuiltExecutable.path("boutique-test-worker"),
              ])))
        try await scene.open(in: worker, "worker")
        try await worker.insert([["a", "1"], ["b", "2"]])
        try await worker.perform("fill", ["path": .text(scene.directory + "/filler")])
        let large = String(repeating: "x", count: 1 << 20)
        for items in [[["c", large]], [["a", "other"], ["d", large], ["e", large]]] {
          let error = await #expect(throws: StoreWorkerError.self) {
            try await worker.insert(items)
          }
          #expect(error?.name == "diskFull", "\(String(describing: error))")
          #expect(error?.message.contains(scene.directory) == true)
        }
        let error = await #expect(throws: StoreWorkerError.self) {
          try await worker.perform(
            "store.replace",
            [
              "old": [["a", ""], ["b", ""]], "items": [["c", .text(large)], ["d", .text(large)]],
            ])
        }
        #expect(error?.name == "diskFull")
        #expect(try await worker.items() == [["a", "1"], ["b", "2"]])
        let disk = try await worker.perform("store.onDisk", scene.place())
        #expect(StoreWorker.pairs(disk) == [["a", "1"], ["b", "2"]])
        try await worker.perform("remove", ["path": .text(scene.directory + "/filler")])
        try await worker.insert([["c", "3"]])
        #expect(try await worker.items() == [["a", "1"], ["b", "2"], ["c", "3"]])
      }
    }

    @Test(arguments: StoreEngineName.allCases)
    func `a bound on the size of files leaves memory as it was`(
      _ engine: StoreEngineName
    ) async throws {
      try await withStoreScene(engine) { scene in
        let worker = try await scene.opened("worker")
        let other = try await scene.opened("other")
        try await worker.insert([["a", "1"]])
        try await worker.perform("limitFileSize", ["bytes": 500_000])
        let large = String(repeating: "x", count: 600_000)
        let error = await #expect(throws: StoreWorkerError.self) {
          try await worker.insert([["a", "2"], ["b", large]])
        }
        #expect(["diskFull", "inputOutput"].contains(error?.name))
        #expect(try await worker.items() == [["a", "1"]])
        try await other.insert([["c", "3"]])
        try await worker.waitFor([["a", "1"], ["c", "3"]])
        try await worker.perform("limitFileSize")
        try await worker.insert([["b", large]])
        try await other.waitFor([["a", "1"], ["c", "3"], ["b", large]])
      }
    }
  }
}
