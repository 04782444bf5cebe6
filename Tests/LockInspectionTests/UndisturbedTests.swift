import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

extension Locks {
  /// That looking leaves no trace.
  @Suite struct UndisturbedTests {
    /// Everything about a file that looking could change; the time of last access is not among it.
    private struct Trace: Equatable {
      var inode: UInt64
      var size: Int64
      var mode: UInt32
      var modified: [Int]
      var changed: [Int]
      var content: Data?
    }

    private static func traces(_ scene: LockScene) throws -> [String: Trace] {
      var traces: [String: Trace] = [:]
      let names = try FileManager.default.contentsOfDirectory(atPath: scene.directory)
      for path in [scene.directory] + names.map(scene.file) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { continue }
        traces[path] = Trace(
          inode: UInt64(facts.st_ino), size: Int64(facts.st_size), mode: facts.st_mode,
          modified: [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec],
          changed: [facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec],
          content: FileManager.default.contents(atPath: path))
      }
      return traces
    }

    /// The kernel's locks of the scene's files, in an order of their own.
    private static func locks(_ scene: LockScene) throws -> [String] {
      let names = try FileManager.default.contentsOfDirectory(atPath: scene.directory)
      let inodes = names.compactMap { name -> String? in
        var facts = stat()
        return stat(scene.file(name), &facts) == 0 ? ":\(facts.st_ino) " : nil
      }
      let list = SystemFile.text(path: "/proc/locks") ?? ""
      return list.split(separator: "\n").filter { line in
        inodes.contains { line.contains($0) }
      }.map { String($0.drop { $0 != ":" }) }.sorted()
    }

    /// A database with all there is to see: a holder, a waiter, a foreign reader, changes in the log.
    private static func crowd(_ scene: LockScene) async throws -> [ChildProcess] {
      let first = try await scene.opened("first")
      let reader = try await scene.shell("BEGIN; SELECT count(*) FROM note;")
      for number in 1...20 {
        try await first.perform("exec", ["sql": .text("INSERT INTO note VALUES (\(number), 'x')")])
      }
      let second = try await scene.opened("second")
      try await first.hold()
      second.beginWrite()
      try await scene.waitUntilInLine(second)
      return [first.child, second.child, reader]
    }

    @Test(arguments: [[], ["--json"], ["--tree"], ["--explain"]])
    func `nothing is changed or locked by looking, though every process is stopped`(
      options: [String]
    ) async throws {
      try await LockScene.with { scene in
        let processes = try await Self.crowd(scene)
        for process in processes { await process.stop() }
        let (files, locks) = (try Self.traces(scene), try Self.locks(scene))
        #expect(!locks.isEmpty)
        let shown = try await scene.finish(
          scene.children.start(built: "boutique-locks", options + [scene.path]))
        #expect(shown.status == .exited(0), "\(shown.errors)")
        #expect(!shown.lines.isEmpty)
        let (filesAfter, locksAfter) = (try Self.traces(scene), try Self.locks(scene))
        #expect(filesAfter.keys.sorted() == files.keys.sorted())
        for (path, trace) in files { #expect(filesAfter[path] == trace, "\(path)") }
        #expect(locksAfter == locks)
      }
    }

    @Test func `while every process is stopped all is seen, the change log too`() async throws {
      try await LockScene.with { scene in
        let processes = try await Self.crowd(scene)
        for process in processes { await process.stop() }
        let database = try await scene.json()
        #expect(database["queue"]?.list?.count == 1)
        #expect(database["write_lease"]?["holder"]?["state"] == "stopped")
        #expect((database["changes"]?["last_token"]?.int ?? 0) >= 20)
        #expect((database["log"]?["frames"]?.int ?? 0) > 0)
        #expect(database["unseen"] == [])
      }
    }

    @Test func `a database that nobody has open is left as it is`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        try await worker.perform("exec", ["sql": "INSERT INTO note (body) VALUES ('x')"])
        // Killed, it leaves a log that the next one to open would recover.
        await worker.child.end()
        let files = try Self.traces(scene)
        #expect(files[scene.path + "-wal"] != nil)
        let database = try await scene.json()
        #expect((database["changes"]?["last_token"]?.int ?? 0) > 0, "\(database)")
        #expect(try Self.traces(scene) == files)
        #expect(try Self.locks(scene) == [])
      }
    }

    @Test func `a database without a log is left without one`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        try await worker.perform("close")
        for suffix in ["-wal", "-shm"] { unlink(scene.path + suffix) }
        let files = try Self.traces(scene)
        let database = try await scene.json()
        #expect((database["changes"]?["last_token"]?.int ?? 0) > 0, "\(database)")
        #expect(try Self.traces(scene) == files)
      }
    }

    @Test(.enabled(if: Tool.strace.isThere))
    func `no call that locks, writes or removes is made on the files`() async throws {
      try await LockScene.with { scene in
        _ = try await Self.crowd(scene)
        let record = NSTemporaryDirectory() + "/boutique-strace-\(scene.path.hashValue)"
        defer { try? FileManager.default.removeItem(atPath: record) }
        let program = try BuiltExecutable.path("boutique-locks")
        let shown = try await scene.finish(
          scene.children.start(
            ChildCommand("strace", ["-f", "-o", record, program, "--json", scene.path])))
        guard shown.status == .exited(0) else {
          // Where tracing is forbidden there is nothing to see.
          #expect(shown.errors.contains("strace"), "\(shown.errors)")
          return
        }
        let calls = try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
          .map { $0.drop { $0.isNumber || $0 == " " } }
        #expect(calls.contains { $0.hasPrefix("openat(") && $0.contains(scene.path + "-wal") })
        let forbidden = [
          "flock(", "ftruncate(", "truncate(", "unlink(", "unlinkat(", "rename(", "renameat",
          "mkdir",
          "pwrite64(", "pwritev(", "writev(", "fallocate(", "fsync(", "fdatasync(", "utimensat(",
          "chmod(", "fchmod(", "chown(", "fchown(",
        ]
        for call in calls {
          #expect(!forbidden.contains { call.hasPrefix($0) }, "\(call)")
          #expect(!call.contains("_SETLK"), "\(call)")
          if call.hasPrefix("open"), call.contains(scene.directory) {
            #expect(call.contains("O_RDONLY") && !call.contains("O_CREAT"), "\(call)")
          }
          // Output, and the wake-ups that threads of the runtime give each other.
          if call.hasPrefix("write(") { #expect(call.hasPrefix("write(1,"), "\(call)") }
        }
      }
    }
  }
}

extension Locks {
  /// That what is read beside writers and checkpoints is not torn.
  @Suite struct ConsistencyTests {
    @Test func `tokens never go back and never run ahead while others write and checkpoint`()
      async throws
    {
      try await LockScene.with { scene in
        // A log that is emptied again and again.
        let first = try await scene.opened("first", nil, ["logBound": 65_536])
        let second = try await scene.opened("second", nil, ["logBound": 65_536])
        let ids = [first, second].map { worker in
          worker.begin(
            "increment",
            ["sql": "INSERT INTO note (body) VALUES (hex(randomblob(800)))", "times": 3000])
        }
        var last = 0
        var seen = 0
        for _ in 0..<40 {
          let database = try await scene.json()
          guard let changes = database["changes"] else {
            // Thrown away rather than believed.
            let unseen = database["unseen"]?.list?.compactMap { $0["what"]?.string } ?? []
            #expect(unseen.contains("the change log's tokens and consumers"), "\(database)")
            continue
          }
          seen += 1
          let (low, high) = (changes["first_token"]?.int ?? 0, changes["last_token"]?.int ?? 0)
          #expect(low >= 1 && low <= high)
          #expect(high >= last)
          last = high
        }
        #expect(seen > 0)
        for (worker, id) in zip([first, second], ids) { try await worker.event("done", of: id) }
        let database = try await scene.json()
        // Two numbers a commit of one row: its change and itself.
        #expect((database["changes"]?["last_token"]?.int ?? 0) >= 12_000)
      }
    }
  }
}
