import Foundation
import ProcessHarness
import Testing

@Suite(.serialized, .timeLimit(.minutes(5)))
struct SecureSharingTests {
  @Test func `eight processes that find no key end up with one`() async throws {
    try await withValueScene { scene in
      let workers = try await scene.workers(8)
      let reader = try await scene.worker()
      for round in 0..<40 {
        let directory = scene.directory + "/\(round)"
        try FileManager.default.createDirectory(
          atPath: directory, withIntermediateDirectories: false)
        let path = directory + "/settings.db"
        let keyFile = directory + "/keys/settings.key"
        for worker in workers { try await scene.name(in: worker, path: path, keyFile: keyFile) }
        let commands = workers.enumerated().map { number, worker in
          (
            worker,
            worker.begin(
              "secretSet", ["key": .text("k\(number)"), "texts": [.text("value \(number)")]])
          )
        }
        for (worker, command) in commands { try await worker.end(of: command) }
        // Somebody who has seen nothing of it.
        try await scene.name(in: reader, path: path, keyFile: keyFile)
        for number in 0..<8 {
          let found = try await reader.perform("secretGet", ["key": .text("k\(number)")])
          #expect(found["texts"] == [.text("value \(number)")], "round \(round)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory + "/keys")
        #expect(files == ["settings.key"])
        for worker in workers + [reader] { try await worker.perform("valueClose") }
      }
    }
  }

  @Test(arguments: ["written", "linked"])
  func `a process killed while it makes the key is in nobody's way`(_ step: String) async throws {
    try await withValueScene { scene in
      let first = try await scene.worker()
      try await first.perform("valueCrashAfter", ["step": .text(step)])
      first.begin("secretSet", ["key": "k", "texts": ["first"]])
      let status = try await first.child.exit()
      #expect(status == .signalled(SIGKILL))
      let keys = scene.directory + "/keys"
      let left = try FileManager.default.contentsOfDirectory(atPath: keys)
      #expect(left.contains("settings.key") == (step == "linked"))
      #expect(left.contains { $0.hasSuffix(".new") })
      let key = FileManager.default.contents(atPath: scene.keyFile)

      let second = try await scene.worker()
      try await second.perform("secretSet", ["key": "k", "texts": ["second"]])
      let third = try await scene.worker()
      let found = try await third.perform("secretGet", ["key": "k"])
      #expect(found["texts"] == ["second"])
      if let key { #expect(FileManager.default.contents(atPath: scene.keyFile) == key) }
      // Where a key was made the leftovers were swept.
      if step == "written" {
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["settings.key"])
      }
    }
  }

  @Test func `rotating the key beside writers and readers disturbs nobody`() async throws {
    try await withValueScene { scene in
      let writers = try await scene.workers(3)
      let reader = try await scene.worker()
      let rotators = try await scene.workers(2)
      try await writers[0].perform("secretSet", ["key": "shared", "texts": []])
      let reading = reader.begin("secretReadUntilCancelled", ["key": "shared"])
      _ = try await reader.event("reading", of: reading)
      let first = FileManager.default.contents(atPath: scene.keyFile)
      var commands = writers.enumerated().map { number, worker in
        (
          worker,
          worker.begin(
            "secretAppend", ["key": "shared", "name": .text("w\(number)"), "count": 60])
        )
      }
      commands += writers.enumerated().map { number, worker in
        (
          worker,
          worker.begin(
            "secretAppend", ["key": .text("own\(number)"), "name": "n", "count": 60])
        )
      }
      commands += rotators.map { ($0, $0.begin("secretRotate", ["times": 15])) }
      for (worker, command) in commands { try await worker.end(of: command) }
      // Starts with the last key only.
      let late = try await scene.worker()
      let shared = try await late.perform("secretGet", ["key": "shared"])
      #expect(shared["texts"]?.list?.count == 180)
      for number in 0..<3 {
        let own = try await late.perform("secretGet", ["key": .text("own\(number)")])
        #expect(own["texts"] == .list((0..<60).map { .text("n-\($0)") }))
      }
      try await reader.cancel(reading)
      let last = FileManager.default.contents(atPath: scene.keyFile)
      #expect(last?.count == 32)
      #expect(last != first)
      let ids = try await scene.shell(
        "SELECT DISTINCT hex(substr(sealed, 2, 8)) FROM stored_secret")
      #expect(ids.count == 1)
    }
  }

  @Test func `a process that was stopped during a rotation seals with the new key`() async throws {
    try await withValueScene { scene in
      let sleeper = try await scene.worker()
      let rotator = try await scene.worker()
      try await sleeper.perform("secretSet", ["key": "k", "texts": ["0"]])
      for round in 1...8 {
        // The write lease goes to the other before the sleeper is stopped.
        try await rotator.perform("secretSet", ["key": "other", "texts": []])
        await sleeper.child.stop()
        try await rotator.perform("secretRotate")
        let set = sleeper.begin("secretSet", ["key": "k", "texts": [.text("\(round)")]])
        sleeper.child.resume()
        try await sleeper.end(of: set)
        let reader = try await scene.worker()
        let found = try await reader.perform("secretGet", ["key": "k"])
        #expect(found["texts"] == [.text("\(round)")])
      }
    }
  }

  @Test func `a process that slept through two rotations opens what is stored now`() async throws {
    try await withValueScene { scene in
      let rotator = try await scene.worker()
      try await rotator.perform("secretSet", ["key": "k", "texts": ["x"]])
      for _ in 1...8 {
        // Knows the rows, but has not needed a key yet.
        let sleeper = try await scene.worker()
        try await sleeper.perform("valueAll")
        // Reading is done before the database is open, and who is stopped while it opens keeps others from opening.
        try await sleeper.perform("valueSetText", ["key": "awake", "text": "yes"])
        try await rotator.perform("secretSet", ["key": "other", "texts": []])
        await sleeper.child.stop()
        try await rotator.perform("secretRotate", ["times": 2])
        let get = sleeper.begin("secretGet", ["key": "k"])
        sleeper.child.resume()
        let found = try await sleeper.end(of: get)
        #expect(found["texts"] == ["x"])
      }
    }
  }

  /// `written` comes before the first `replaced`, and a second time, with all rows sealed anew.
  @Test(arguments: ["written", "replaced"])
  func `a rotation that is killed leaves everything readable`(_ step: String) async throws {
    try await withValueScene { scene in
      let first = try await scene.worker()
      for number in 0..<5 {
        try await first.perform(
          "secretSet", ["key": .text("k\(number)"), "texts": [.text("\(number)")]])
      }
      let other = try await scene.worker()
      for round in 0..<2 {
        let rotator = try await scene.worker()
        try await rotator.perform("valueCrashAfter", ["step": .text(step)])
        rotator.begin("secretRotate")
        let status = try await rotator.child.exit()
        #expect(status == .signalled(SIGKILL))
        let reader = try await scene.worker()
        for number in 0..<5 {
          for worker in [first, other, reader] {
            let found = try await worker.perform("secretGet", ["key": .text("k\(number)")])
            #expect(found["texts"] == [.text("\(number)")], "round \(round)")
          }
        }
        try await other.perform("secretSet", ["key": "k4", "texts": ["4"]])
      }
      try await other.perform("secretRotate")
      #expect(FileManager.default.contents(atPath: scene.keyFile)?.count == 32)
      let reader = try await scene.worker()
      for number in 0..<5 {
        let found = try await reader.perform("secretGet", ["key": .text("k\(number)")])
        #expect(found["texts"] == [.text("\(number)")])
      }
    }
  }
}
