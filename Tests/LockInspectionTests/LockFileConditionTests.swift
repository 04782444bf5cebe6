import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

extension Locks {
  @Suite struct LockFileConditionTests {
    @Test func `a damaged lock file is said to be, and the kernel tells the holder`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        let size = try #require(
          try FileManager.default.attributesOfItem(atPath: scene.path + "-lock")[.size] as? Int)
        let rubbish = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
        let handle = try FileHandle(forWritingTo: URL(filePath: scene.path + "-lock"))
        try handle.write(contentsOf: rubbish)
        try handle.close()
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.status == .exited(0))
        #expect(shown.database["lock_file"]?["condition"] == "damaged")
        #expect(shown.database.findings.contains("lock_file_damaged"))
        #expect(shown.database["write_lease"]?["holder"]?["pid"]?.int == Int(holder.pid))
        #expect(shown.database.process(holder.pid)?["role"] == "member")
      }
    }

    @Test func `a lock file cut to nothing is damaged`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.opened("worker")
        #expect(truncate(scene.path + "-lock", 0) == 0)
        let database = try await scene.json()
        #expect(database["lock_file"]?["condition"] == "damaged")
      }
    }

    @Test func `a lock file that was deleted while in use is said to be replaced`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("holder")
        #expect(unlink(scene.path + "-lock") == 0)
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.database["lock_file"]?["condition"] == "replaced")
        #expect(shown.database.findings.contains("lock_file_replaced"))
        #expect(shown.database["write_lease"]?["holder"]?["pid"]?.int == Int(holder.pid))
        let all = try await scene.locks("--json").whole["databases"]?.list ?? []
        #expect(all.contains { $0["path"]?.string == scene.path })
      }
    }

    @Test func `a missing lock file with nobody there is only a note`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        try await worker.perform("close")
        #expect(unlink(scene.path + "-lock") == 0)
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.status == .exited(0))
        #expect(shown.database.findings == ["not_in_use"])
      }
    }

    @Test func `a lock file of another version is not guessed at`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        let handle = try FileHandle(forWritingTo: URL(filePath: scene.path + "-lock"))
        try handle.seek(toOffset: 8)
        try handle.write(contentsOf: Data([99, 0, 0, 0]))
        try handle.close()
        let database = try await scene.json()
        #expect(database["lock_file"]?["condition"] == "other_version")
        #expect(database["lock_file"]?["problem"]?.string?.contains("99") == true)
        #expect(database.process(worker.pid) != nil)
      }
    }

    @Test func `a symbolic link in its place is said to be one`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        try await worker.perform("close")
        #expect(unlink(scene.path + "-lock") == 0)
        #expect(symlink("/etc/passwd", scene.path + "-lock") == 0)
        let database = try await scene.json()
        #expect(database["lock_file"]?["condition"] == "not_regular")
        #expect(database.findings.contains("lock_file_unusable"))
      }
    }

    @Test func `a full table of slots is told, and who has none is listed`() async throws {
      try await LockScene.with { scene in
        var options = CoordinationOptions(label: "makes a small table")
        options.slotCount = 1
        let maker = try CoordinationFile(databasePath: scene.path, options: options)
        maker.close()
        let first = try await scene.opened("has the slot")
        let second = try await scene.opened("has none")
        let database = try await scene.json()
        #expect(database["lock_file"]?["slot_count"]?.int == 1)
        #expect(database.findings.contains("slot_table_full"))
        #expect(database.process(first.pid)?["role"] == "member")
        #expect(database.process(second.pid)?["role"] == "unlisted")
      }
    }

    @Test func `a deleted database that is still open is a problem`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("worker")
        #expect(unlink(scene.path) == 0)
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.database["is_there"] == false)
        #expect(shown.database.findings.first == "database_replaced")
        #expect(shown.database.process(worker.pid) != nil)
      }
    }
  }
}
