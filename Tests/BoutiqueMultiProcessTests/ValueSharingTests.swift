import Foundation
import ProcessHarness
import Testing

@Suite(.serialized, .timeLimit(.minutes(3)))
struct ValueSharingTests {
  @Test func `eight processes that change the same values at once lose nothing`() async throws {
    try await withValueScene { scene in
      let workers = try await scene.workers(8)
      let commands = workers.enumerated().map { number, worker in
        (worker, worker.begin("valueAppend", ["name": .text("w\(number)"), "count": 101]))
      }
      for (worker, command) in commands { try await worker.end(of: command) }

      let reader = try await scene.worker()
      let values = try await reader.perform("valueAll")["values"]
      let list = try #require(values?["list"]?.list).compactMap(\.string)
      #expect(list.count == 808)
      #expect(Set(list).count == 808)
      for name in 0..<8 {
        let own = list.filter { $0.hasPrefix("w\(name)-") }
        #expect(own == (0..<101).map { "w\(name)-\($0)" }, "the order of one process is kept")
      }
      // 808 toggles.
      #expect(values?["flag"] == false)
      #expect(values?["number"] == 808)
      #expect(values?["counts"]?.object?.count == 80)
      // Those that wrote see the same in the end.
      for worker in workers {
        try await waitUntil("the values of all agree") {
          try await worker.perform("valueAll")["values"] == values
        }
      }
    }
  }

  @Test func `what one process sets another sees live, and the last commit wins`() async throws {
    try await withValueScene { scene in
      let one = try await scene.worker()
      let two = try await scene.worker()
      let watch = two.begin("valueWatch")
      let first = try await two.event("value", of: watch)
      #expect(first["number"] == 0)
      for number: Int64 in 1...20 {
        try await one.perform("valueSetNumber", ["number": .integer(number)])
        _ = try await two.event("value", of: watch) { $0["number"] == .integer(number) }
      }
      // Both at once: in the end both show what the file has.
      let commands = [one, two].enumerated().map { place, worker in
        (0..<200).map { number in
          (
            worker,
            worker.begin(
              "valueSetNumber", ["number": .integer(Int64(1000 * (place + 1) + number))])
          )
        }
      }
      for (worker, command) in commands.joined() { try await worker.end(of: command) }
      let stored = try await scene.shell("SELECT value FROM stored_value WHERE key = 'number'")
      for worker in [one, two] {
        try await waitUntil("both show \(stored)") {
          let number = try await worker.perform("valueAll")["values"]?["number"]?.int
          return number.map { ["\($0)"] } == stored
        }
      }
    }
  }

  @Test func `a number that all only add to never goes back before anybody's eyes`() async throws {
    try await withValueScene { scene in
      let workers = try await scene.workers(3)
      let watches = workers.map { ($0, $0.begin("valueWatch")) }
      for (worker, watch) in watches { _ = try await worker.event("value", of: watch) }
      let commands = workers.enumerated().map { number, worker in
        (worker, worker.begin("valueAppend", ["name": .text("w\(number)"), "count": 300]))
      }
      for (worker, command) in commands { try await worker.end(of: command) }
      for (worker, watch) in watches {
        var numbers: [Int] = []
        while numbers.last != 900 {
          let event = try await worker.event("value", of: watch)
          numbers.append(try #require(event["number"]?.int))
          if let last = numbers.last, let before = numbers.dropLast().last {
            try #require(last > before, "it went from \(before) to \(last)")
          }
        }
      }
    }
  }

  @Test func `what is set just before a program ends is stored, though nobody waits for it`()
    async throws
  {
    try await withValueScene { scene in
      // The first one makes the file.
      for number in 1...3 {
        let worker = try await scene.worker()
        worker.begin("valueSetAndEnd", ["number": .integer(Int64(number))])
        #expect(try await worker.child.exit() == .exited(0))
        let reader = try await scene.worker()
        let stored = try await reader.perform("valueAll")["values"]
        #expect(stored?["number"]?.int == number)
        #expect(stored?["list"]?.list?.count == number)
        #expect(stored?["flag"]?.bool == (number % 2 == 1))
      }
    }
  }

  @Test func `processes of one group find one file, and each its own keys`() async throws {
    try await withValueScene { scene in
      let one = try await scene.worker(group: "org.example.shared")
      let two = try await scene.worker(group: "org.example.shared")
      let commands = [one, two].enumerated().map { place, worker in
        (0..<50).map { number in
          (
            worker,
            worker.begin(
              "valueSetText", ["key": .text("k\(place)-\(number)"), "text": .text("\(number)")])
          )
        }
      }
      for (worker, command) in commands.joined() { try await worker.end(of: command) }
      try await one.perform("secretSet", ["key": "s", "texts": ["x"]])
      let three = try await scene.worker(group: "org.example.shared")
      for place in 0..<2 {
        for number in 0..<50 {
          let text = try await three.perform("valueText", ["key": .text("k\(place)-\(number)")])
          #expect(text["text"] == .text("\(number)"))
        }
      }
      let secret = try await three.perform("secretGet", ["key": "s"])
      #expect(secret["texts"] == ["x"])
      let files = FileManager.default
      #expect(files.fileExists(atPath: scene.directory + "/config/org.example.shared/settings.db"))
      let key = scene.directory + "/data/org.example.shared/keys/settings.db.key"
      #expect(files.fileExists(atPath: key))
    }
  }

  @Test func `the first look shows what is stored, even while somebody holds the write lock`()
    async throws
  {
    try await withValueScene { scene in
      let writer = try await scene.worker()
      try await writer.perform("valueSetNumber", ["number": 41])
      try await writer.perform("valueSetNumber", ["number": 42])
      try await writer.perform("open", ["path": .text(scene.path), "label": "holder"])
      let hold = writer.begin("hold", ["sql": ["UPDATE stored_value SET value = '43'"]])
      _ = try await writer.event("holding", of: hold)
      let reader = try await scene.worker()
      let seen = try await reader.perform(
        "values", ["path": .text(scene.path), "keyFile": .text(scene.keyFile), "look": true])
      #expect(seen["values"]?["number"] == 42)
      // What it sets meanwhile is shown at once, and written when the other is done.
      try await reader.perform("valueSetNumber", ["number": 7, "waiting": false])
      let now = try await reader.perform("valueAll")
      #expect(now["values"]?["number"] == 7)
      try await writer.perform("release", ["of": .integer(Int64(hold))])
      try await writer.end(of: hold)
      try await waitUntil("the writer sees what was set") {
        try await writer.perform("valueAll")["values"]?["number"] == 7
      }
    }
  }

  @Test func `a foreign program's change is followed, and its secret is refused`() async throws {
    try await withValueScene { scene in
      let worker = try await scene.worker()
      try await worker.perform("valueSetNumber", ["number": 1])
      try await worker.perform("secretSet", ["key": "s", "texts": ["mine"]])
      try await scene.shell("UPDATE stored_value SET value = '2' WHERE key = 'number'")
      try await waitUntil("the number is followed") {
        try await worker.perform("valueAll")["values"]?["number"] == 2
      }
      try await scene.shell(
        """
        UPDATE stored_secret SET sealed = CAST(substr(sealed, 1, length(sealed) - 1)
          || CASE substr(sealed, -1) WHEN x'00' THEN x'01' ELSE x'00' END AS BLOB)
        """)
      try await waitUntil("the secret is refused") {
        do {
          try await worker.perform("secretGet", ["key": "s"])
          return false
        } catch let error as ValueWorkerError {
          guard error.description.contains("is not what was sealed") else { throw error }
          return true
        }
      }
      try await scene.shell("DELETE FROM stored_value WHERE key = 'number'")
      try await waitUntil("the number is its default") {
        try await worker.perform("valueAll")["values"]?["number"] == 0
      }
    }
  }
}

/// Asks until the answer is yes; the bound is for a loaded machine.
func waitUntil(_ what: String, _ isTrue: () async throws -> Bool) async throws {
  let clock = ContinuousClock()
  let bound = clock.now + ChildProcess.usualBound
  while clock.now < bound {
    if try await isTrue() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("in vain: \(what)")
}
