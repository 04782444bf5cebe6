import Foundation
import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// Files and requests that cannot serve: a typed error whose text helps, and nothing changed.
  @Suite struct BadInputTests {
    /// Opens the scene's database in a new worker and returns the error that it must give.
    private func errorOfOpening(
      _ scene: Scene, path: String? = nil, options: [String] = [],
      _ members: [String: JSONValue] = [:]
    ) async throws -> WorkerError {
      let worker = try await scene.worker(options)
      var members = members
      if let path { members["path"] = .text(path) }
      do {
        try await scene.open(in: worker, "worker", members)
      } catch let error as WorkerError {
        return error
      }
      throw worker.child.failure(.refused("it opened"), "an error")
    }

    @Test func `a missing directory is named`() async throws {
      try await withScene { scene in
        let path = scene.directory + "/not/there/app.db"
        let error = try await errorOfOpening(scene, path: path)
        #expect(error.name == "directoryMissing")
        #expect(error.message.contains(scene.directory + "/not/there"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory + "/not"))
      }
    }

    @Test func `a directory is no database`() async throws {
      try await withScene { scene in
        let error = try await errorOfOpening(scene, path: scene.directory)
        #expect(error.name == "invalidPath")
        #expect(error.message.contains(scene.directory))
      }
    }

    @Test func `a missing file that must not be made is named and not made`() async throws {
      try await withScene { scene in
        let error = try await errorOfOpening(scene, ["create": false])
        #expect(error.name == "fileMissing")
        #expect(error.message.contains(scene.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.directory) == [])
      }
    }

    @Test func `a text file is refused and left as it is`() async throws {
      try await withScene { scene in
        let text = String(repeating: "These are notes, not pages.\n", count: 200)
        try text.write(toFile: scene.path, atomically: true, encoding: .utf8)
        let error = try await errorOfOpening(scene)
        #expect(error.name == "notADatabase")
        #expect(error.message.contains(scene.path))
        #expect(try String(contentsOfFile: scene.path, encoding: .utf8) == text)
      }
    }

    @Test func `a short text file is refused and left as it is`() async throws {
      try await withScene { scene in
        try "hello\n".write(toFile: scene.path, atomically: true, encoding: .utf8)
        let error = try await errorOfOpening(scene)
        #expect(error.name == "notADatabase")
        #expect(try String(contentsOfFile: scene.path, encoding: .utf8) == "hello\n")
      }
    }

    @Test(arguments: [0.5, 0.9])
    func `a truncated database is called damaged`(fraction: Double) async throws {
      try await withScene { scene in
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        try await scene.shell(
          """
          CREATE TABLE t (x TEXT); \(rows) INSERT INTO t SELECT printf('%0200d', i) FROM n;
          CREATE INDEX i ON t (x)
          """)
        let size = try #require(
          try FileManager.default.attributesOfItem(atPath: scene.path)[.size] as? Int)
        try #require(truncate(scene.path, Int(Double(size) * fraction)) == 0)

        let worker = try await scene.worker()
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(in: worker, "worker", ["migrations": []])
          _ = try await worker.query("SELECT sum(length(x)) FROM t NOT INDEXED")
          _ = try await worker.query("SELECT count(*) FROM t ORDER BY x")
        }
        #expect(error?.name == "corrupt")
        #expect(error?.message.contains(scene.path) == true)
      }
    }

    @Test func `SQL that fails is a typed error and the transaction leaves nothing`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        let faults: [(String, String)] = [
          ("SELEC 1", "syntax error"), ("INSERT INTO nowhere VALUES (1)", "nowhere"),
          ("INSERT INTO note (id, body) VALUES (1, NULL)", "note.body"),
          ("INSERT INTO counter VALUES (1, 5)", "counter.id"),
        ]
        for (sql, part) in faults {
          let error = await #expect(throws: WorkerError.self) {
            try await worker.perform(
              "transact", ["sql": ["INSERT INTO note (body) VALUES ('before')", .text(sql)]])
          }
          #expect(error?.name == "sql")
          #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
        try await worker.expectIntegers("SELECT count(*) FROM note", [0])
      }
    }

    @Test func `what a closure may not do is refused and the database stays usable`() async throws {
      try await withScene { scene in
        let worker = try await scene.opened("worker")
        for sql in ["COMMIT", "BEGIN", "ROLLBACK", "SELECT 1; SELECT 2", "SELECT ?"] {
          let error = await #expect(throws: WorkerError.self) {
            try await worker.perform(
              "transact", ["sql": ["INSERT INTO note (body) VALUES ('before')", .text(sql)]])
          }
          #expect(["statementRefused", "invalidStatement"].contains(error?.name))
        }
        let error = await #expect(throws: WorkerError.self) {
          _ = try await worker.query("INSERT INTO note (body) VALUES ('x') RETURNING id")
        }
        #expect(error?.name == "writeInRead")
        try await worker.execute("INSERT INTO note (body) VALUES ('after')")
        try await scene.expectShell("SELECT body FROM note", ["after"])
      }
    }
  }
}
