import Foundation
import ProcessHarness
import Testing

extension MultiProcess {
  /// No room: a typed error, nothing half done, and on with the work when there is room again.
  @Suite struct FullDiskTests {
    /// Starts a worker that sees, alone, a file system of two megabytes over the scene's directory.
    ///
    /// A mount namespace of its own takes the file system along when it ends. Nil where the kernel
    /// allows this user none.
    private func workerOnSmallDisk(_ scene: Scene) async throws -> WorkerProcess? {
      let script = #"mount -t tmpfs -o size=2m none "$1" && exec "$2""#
      let worker = try BuiltExecutable.path("boutique-test-worker")
      let probe = try await scene.children.start(
        ChildCommand("unshare", ["--map-root-user", "--mount", "true"]))
      guard try await probe.exit() == .exited(0) else { return nil }
      let child = try await scene.children.start(
        ChildCommand(
          "unshare",
          ["--map-root-user", "--mount", "sh", "-c", script, "sh", scene.directory, worker]))
      return try await scene.ready(child)
    }

    @Test func `a full file system is a typed error and work goes on after it`() async throws {
      try await withScene { scene in
        guard let worker = try await workerOnSmallDisk(scene) else { return }
        let filler: [String: JSONValue] = ["path": .text(scene.directory + "/filler")]
        try await scene.open(in: worker, "worker")
        let (watch, _) = try await worker.observe(Scene.invariant)
        try await worker.perform("append", ["writer": "w", "count": 10, "sql": Scene.transfer])
        _ = try await worker.values(of: watch) { $0 == [[0, 10, 10]] }

        try await worker.perform("fill", filler)
        let big = "INSERT INTO note (body) VALUES (hex(zeroblob(200000)))"
        var withNote = Scene.transfer.list ?? []
        withNote.append(.text(big))
        let error = await #expect(throws: WorkerError.self) {
          try await worker.perform(
            "append", ["writer": "w", "from": 11, "count": 1, "sql": .list(withNote)])
        }
        #expect(error?.name == "diskFull")
        #expect(error?.message.contains(scene.path) == true)
        // Nothing half done, and reading goes on.
        try await worker.expectIntegers(Scene.invariant, [0, 10, 10])
        try await worker.expectIntegers("SELECT count(*) FROM note", [0])

        try await worker.perform("remove", filler)
        try await worker.perform(
          "append", ["writer": "w", "from": 11, "count": 1, "sql": .list(withNote)])
        try await worker.expectValue(of: watch, [[0, 11, 11]])
        #expect(try await worker.perform("check")["problems"] == [])
      }
    }

    @Test func `a disk that fills up while small writes go on loses none that was acknowledged`()
      async throws
    {
      try await withScene { scene in
        guard let worker = try await workerOnSmallDisk(scene) else { return }
        let filler: [String: JSONValue] = ["path": .text(scene.directory + "/filler")]
        try await scene.open(in: worker, "worker")
        try await worker.perform("fill", filler.merging(["leave": 200_000]) { _, new in new })
        let append = worker.begin("append", ["writer": "w", "sql": Scene.transfer])
        let error = await #expect(throws: WorkerError.self) { try await worker.end(of: append) }
        #expect(error?.name == "diskFull")
        let acknowledged = worker.events("ack", of: append).count
        try await worker.expectIntegers(Scene.invariant, [0, acknowledged, acknowledged])
        try await worker.perform("remove", filler)
        try await worker.perform(
          "append", ["writer": "again", "count": 5, "sql": Scene.transfer])
        try await worker.expectIntegers(Scene.invariant, [0, acknowledged + 5, acknowledged + 5])
        #expect(try await worker.perform("check")["problems"] == [])
      }
    }

    @Test func `a bound on the size of files is a typed error and work goes on after it`()
      async throws
    {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        let other = try await scene.opened("other")
        try await worker.perform("append", ["writer": "w", "count": 10, "sql": Scene.transfer])
        try await worker.perform("limitFileSize", ["bytes": 300_000])
        let big = "INSERT INTO note (body) VALUES (hex(zeroblob(400000)))"
        let error = await #expect(throws: WorkerError.self) {
          try await worker.perform(
            "transact", ["sql": ["UPDATE account SET amount = 7 WHERE id = 1", .text(big)]])
        }
        #expect(["diskFull", "inputOutput"].contains(error?.name))
        #expect(error?.message.contains(scene.path) == true)
        try await other.expectIntegers(Scene.invariant, [0, 10, 10])
        // A process that met the bound is in nobody's way.
        try await other.perform("append", ["writer": "o", "count": 10, "sql": Scene.transfer])
        try await worker.perform("limitFileSize")
        try await worker.perform(
          "append", ["writer": "w", "from": 11, "count": 10, "sql": Scene.transfer])
        try await worker.execute(big)
        try await other.expectIntegers(Scene.invariant, [0, 30, 30])
        try await scene.expectIntegrity()
      }
    }
  }
}
