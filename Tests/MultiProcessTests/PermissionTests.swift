import Foundation
import Glibc
import ProcessHarness
import Testing

/// To the superuser no file is closed, so a test run by it sends a worker that is nobody.
private let isSuperuser = getuid() == 0
private let nobody: uid_t = 65_534
private let asNobody = isSuperuser ? ["--user", "\(nobody)"] : []

extension MultiProcess {
  /// Files and directories that this user may not read or write.
  @Suite struct PermissionTests {
    /// A database with one note, nobody's connection, and no side files.
    private func withClosedDatabase(_ body: (Scene) async throws -> Void) async throws {
      try await withScene { scene in
        let maker = try await scene.opened("maker")
        try await maker.execute("INSERT INTO note (body) VALUES ('kept')")
        try await maker.perform("close")
        await maker.child.end()
        if isSuperuser {
          for name in try FileManager.default.contentsOfDirectory(atPath: scene.directory) {
            try #require(chown("\(scene.directory)/\(name)", nobody, nobody) == 0)
          }
          try #require(chown(scene.directory, nobody, nobody) == 0)
        }
        try await body(scene)
        chmod(scene.directory, 0o700)
      }
    }

    /// What opening for writing and then writing comes to.
    private func errorOfWriting(_ scene: Scene) async throws -> WorkerError? {
      let worker = try await scene.worker(asNobody)
      return await #expect(throws: WorkerError.self) {
        try await scene.open(in: worker, "worker")
        try await worker.execute("INSERT INTO note (body) VALUES ('more')")
      }
    }

    @Test func `a directory without permission is a typed error`() async throws {
      try await withClosedDatabase { scene in
        try #require(chmod(scene.directory, 0) == 0)
        let error = try await errorOfWriting(scene)
        #expect(error?.name == "permissionDenied", "\(error?.description ?? "")")
        #expect(error?.message.contains(scene.directory) == true)
      }
    }

    @Test func `a file without permission is a typed error`() async throws {
      try await withClosedDatabase { scene in
        try #require(chmod(scene.path, 0) == 0)
        let error = try await errorOfWriting(scene)
        #expect(error?.name == "permissionDenied", "\(error?.description ?? "")")
        #expect(error?.message.contains(scene.path) == true)
      }
    }

    @Test func `a read-only file is a typed error and stays as it is`() async throws {
      try await withClosedDatabase { scene in
        let before = FileManager.default.contents(atPath: scene.path)
        try #require(chmod(scene.path, 0o444) == 0)
        let error = try await errorOfWriting(scene)
        #expect(["readOnly", "permissionDenied"].contains(error?.name))
        #expect(error?.message.contains(scene.path) == true)
        #expect(FileManager.default.contents(atPath: scene.path) == before)
      }
    }

    @Test func `a read-only directory is a typed error`() async throws {
      try await withClosedDatabase { scene in
        try #require(chmod(scene.directory, 0o555) == 0)
        let error = try await errorOfWriting(scene)
        #expect(["readOnly", "permissionDenied"].contains(error?.name))
        #expect(error?.message.contains(scene.directory) == true)
      }
    }

    @Test func `a reader without write permission follows a writer of another user`() async throws {
      guard isSuperuser else { return }
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        try await writer.execute("INSERT INTO note (body) VALUES ('one')")
        try #require(chmod(scene.directory, 0o755) == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: scene.directory) {
          try #require(chmod("\(scene.directory)/\(name)", 0o644) == 0)
        }
        let reader = try await scene.worker(asNobody)
        try await scene.open(in: reader, "reader", ["readOnly": true, "poll": 50])
        let (watch, first) = try await reader.observe("SELECT body FROM note ORDER BY id")
        #expect(first == [["one"]])
        try await writer.execute("INSERT INTO note (body) VALUES ('two')")
        try await reader.expectValue(of: watch, [["one"], ["two"]])
        let error = await #expect(throws: WorkerError.self) {
          try await reader.execute("INSERT INTO note (body) VALUES ('three')")
        }
        #expect(error?.name == "readOnly")
      }
    }
  }
}
