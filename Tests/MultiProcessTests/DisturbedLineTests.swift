import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// One process of a line of four is killed, or stopped and continued; the others have their turns in
  /// order, and nothing is done twice or lost.
  @Suite struct DisturbedLineTests {
    /// Who is disturbed: 0 is the holder, 1 the first in line, 2 the one in the middle.
    @Test(arguments: [0, 1, 2]) func `one of a line is killed`(place: Int) async throws {
      try await withScene { scene in
        let line = try await makeLine(scene)
        line[place].worker.child.kill()
        try await line[place].worker.child.exit()
        try await finish(
          line, scene, expecting: [0, 1, 2, 3].filter { $0 != place }, without: place)
      }
    }

    @Test(arguments: [1, 2]) func `one in line is stopped, passed over, and goes on`(
      place: Int
    ) async throws {
      try await withScene { scene in
        let line = try await makeLine(scene)
        await line[place].worker.child.stop()
        try await finish(
          line, scene, expecting: [0, 1, 2, 3].filter { $0 != place }, without: place)
        line[place].worker.child.resume()
        try await line[place].worker.end(of: line[place].command)
        try await scene.expectShell(
          "SELECT body FROM note WHERE body = 'writer \(place)'", ["writer \(place)"])
      }
    }

    @Test func `a stopped holder keeps the lease and everyone goes on after it`() async throws {
      try await withScene { scene in
        let line = try await makeLine(scene)
        await line[0].worker.child.stop()
        let late = try await scene.opened("late", ["lockTimeout": 200])
        let error = await #expect(throws: WorkerError.self) {
          try await late.execute("INSERT INTO note (body) VALUES ('late')")
        }
        #expect(error?.holder?["pid"]?.int == Int(line[0].worker.processID))
        #expect(error?.holder?["isStopped"] == true)
        line[0].worker.child.resume()
        try await finish(line, scene, expecting: [0, 1, 2, 3], without: nil)
      }
    }

    private struct Place {
      let worker: WorkerProcess
      let command: Int
    }

    /// A holder and three in line behind it, in order.
    private func makeLine(_ scene: Scene) async throws -> [Place] {
      var line: [Place] = []
      for number in 0..<4 {
        let worker = try await scene.opened("writer \(number)", ["lockTimeout": 60_000])
        let sql = "INSERT INTO note (body) VALUES ('writer \(number)')"
        if number == 0 {
          let command = worker.begin("hold", ["sql": [.text(sql)]])
          _ = try await worker.event("holding", of: command)
          line.append(Place(worker: worker, command: command))
        } else {
          let command = worker.begin("exec", ["sql": .text(sql)])
          try await scene.waitUntilInLine(worker)
          line.append(Place(worker: worker, command: command))
        }
      }
      return line
    }

    private func finish(
      _ line: [Place], _ scene: Scene, expecting order: [Int], without missing: Int?
    ) async throws {
      if missing != 0 {
        try await line[0].worker.perform("release", ["of": .integer(Int64(line[0].command))])
      }
      for number in order { try await line[number].worker.end(of: line[number].command) }
      try await scene.expectShell(
        "SELECT body FROM note ORDER BY id", order.map { "writer \($0)" })
      try await scene.expectIntegrity()
    }
  }
}
