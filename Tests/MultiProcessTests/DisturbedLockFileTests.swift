import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

extension MultiProcess {
  /// Somebody does something to the lock file while three processes write without pause.
  @Suite struct DisturbedLockFileTests {
    enum Disturbance: String, CaseIterable, Sendable {
      case deleted
      case replacedByAnOlderCopy
      case replacedByAnEmptyFile
      case truncatedToNothing
      case truncatedToHalf
      case filledWithRandomBytes
      case ownedByAnotherUser

      func apply(to path: String, random: inout SeededGenerator) throws {
        switch self {
        case .deleted:
          unlink(path)
        case .replacedByAnOlderCopy:
          // The harness uses no lock of this file, so it may open it.
          let bytes = FileManager.default.contents(atPath: path) ?? Data()
          try bytes.write(to: URL(filePath: path + ".copy"))
          try #require(rename(path + ".copy", path) == 0)
        case .replacedByAnEmptyFile:
          try Data().write(to: URL(filePath: path + ".copy"))
          try #require(rename(path + ".copy", path) == 0)
        case .truncatedToNothing:
          truncate(path, 0)
        case .truncatedToHalf:
          truncate(path, 2500)
        case .filledWithRandomBytes:
          let file = FileHandle(forWritingAtPath: path)
          let bytes = (0..<16_384).map { _ in UInt8.random(in: 0...255, using: &random) }
          try file?.write(contentsOf: Data(bytes))
          try file?.close()
        case .ownedByAnotherUser:
          // Only the superuser can; its own processes go on, since nothing is closed to it.
          chown(path, 65_534, 65_534)
        }
      }
    }

    @Test(arguments: Disturbance.allCases)
    func `writers lose nothing and meet again`(disturbance: Disturbance) async throws {
      var random = SeededGenerator(for: "a lock file that is \(disturbance)")
      try await withScene { scene in
        let lockFile = CoordinationFile.path(forDatabase: scene.path)
        var writers: [(WorkerProcess, Int)] = []
        for number in 1...3 {
          let worker = try await scene.opened("writer \(number)", ["lockTimeout": 60_000])
          let command = worker.begin(
            "append", ["writer": .text("writer \(number)"), "sql": Scene.transfer])
          writers.append((worker, command))
        }
        for _ in 0..<5 {
          for (worker, command) in writers {
            _ = worker.events("ack", of: command)
            _ = try await worker.event("ack", of: command)
          }
          try disturbance.apply(to: lockFile, random: &random)
        }
        for (worker, command) in writers {
          _ = worker.events("ack", of: command)
          _ = try await worker.event("ack", of: command)
          try await worker.cancel(command)
        }
        // All are in one file again: one holds, and the others stand in its line.
        let held = writers[0].0.begin("hold")
        _ = try await writers[0].0.event("holding", of: held)
        var waiting: [(WorkerProcess, Int)] = []
        for (worker, _) in writers.dropFirst() {
          let command = worker.begin("exec", ["sql": "UPDATE counter SET n = n + 1"])
          try await scene.waitUntilInLine(worker)
          waiting.append((worker, command))
        }
        try await writers[0].0.perform("release", ["of": .integer(Int64(held))])
        for (worker, command) in waiting { try await worker.end(of: command) }
        // No number is missing: each was acknowledged before the next was begun.
        try await scene.expectShell(
          """
          SELECT count(*) FROM (SELECT writer FROM log GROUP BY writer
            HAVING count(*) <> max(number) OR min(number) <> 1)
          """, ["0"])
        try await scene.expectShell("SELECT sum(amount) FROM account", ["0"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a read-only lock file of another user is done without, and said`() async throws {
      guard getuid() == 0 else { return }
      try await withScene(under: "/tmp") { scene in
        try #require(chown(scene.directory, 65_534, 65_534) == 0)
        let maker = try await scene.worker(["--user", "65534"])
        try await scene.open(in: maker, "maker")
        try await maker.perform("close")
        await maker.child.end()
        let lockFile = CoordinationFile.path(forDatabase: scene.path)
        try #require(chown(lockFile, 0, 0) == 0 && chmod(lockFile, 0o444) == 0)
        let worker = try await scene.worker(["--user", "65534"])
        try await scene.open(in: worker, "worker")
        try await worker.execute("INSERT INTO note (body) VALUES ('written')")
        let status = try await worker.perform("status")["status"]
        let problem = try #require(status?["coordinationProblem"]?.string)
        #expect(problem.contains(lockFile), "\(problem)")
        try await scene.expectShell("SELECT body FROM note", ["written"])
      }
    }

    @Test(arguments: [2, 99] as [UInt8])
    func `another layout version is a typed error and the file stays`(
      version: UInt8
    ) async throws {
      try await withScene { scene in
        let maker = try await scene.opened("maker")
        try await maker.perform("close")
        let lockFile = CoordinationFile.path(forDatabase: scene.path)
        var bytes = try #require(FileManager.default.contents(atPath: lockFile))
        // The version stands here in every version to come.
        bytes[8] = version
        try bytes.write(to: URL(filePath: lockFile))
        let worker = try await scene.worker()
        let error = await #expect(throws: WorkerError.self) {
          try await scene.open(in: worker, "worker")
        }
        #expect(error?.name == "lockFile")
        #expect(error?.message.contains(lockFile) == true, "\(error?.message ?? "")")
        #expect(FileManager.default.contents(atPath: lockFile) == bytes)
      }
    }
  }
}
