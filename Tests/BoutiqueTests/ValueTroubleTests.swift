import Boutique
import BoutiqueDB
import Dispatch
import Foundation
import Synchronization
import TestDatabase
import Testing

/// Something that JSON cannot hold.
private struct Unencodable: Codable, Sendable {
  var number = 1
  func encode(to encoder: any Encoder) throws { throw Refusal() }
  struct Refusal: Error {}
}

private struct Refused: Error {}

/// What is shown and told when something is wrong.
@Suite(.timeLimit(.minutes(2))) @MainActor
struct ValueTroubleTests {
  @Test func `what cannot be decoded is told and left alone until it is set`() async throws {
    try await withSettings { storage, directory in
      let path = directory.file("settings.db")
      let text = StoredValue<String>(key: "k", default: "", storage: storage)
      try await text.set("words").committed()
      let list = StoredValue<[Int]>(key: "k", default: [7], storage: storage)
      #expect(list.wrappedValue == [7])
      #expect(throws: StoredValueError.self) { try list.get() }
      #expect(list.error is StoredValueError)
      await #expect(throws: StoredValueError.self) { try await list.append(8).committed() }
      #expect(try readRows(path) == ["k": #""words""#])
      try await list.set([1]).committed()
      #expect(list.wrappedValue == [1])
      #expect(list.error == nil)
      #expect(throws: StoredValueError.self) { try text.get() }
      try await text.reset().committed()
      #expect(try text.get() == "")
      try? await storage.synchronize()
    }
  }

  @Test func `a value that cannot be encoded changes nothing and is told`() async throws {
    try await withSettings { storage, directory in
      let value = StoredValue<Unencodable?>(key: "k", storage: storage)
      await #expect(throws: StoredValueError.self) {
        try await value.set(Unencodable()).committed()
      }
      #expect(value.wrappedValue == nil)
      #expect(value.error is StoredValueError)
      value.set(Unencodable())
      await #expect(throws: StoredValueError.self) { try await value.synchronize() }
      try await value.synchronize()
    }
  }

  @Test func `a change that throws is taken back and its neighbours stay`() async throws {
    try await withSettings { storage, _ in
      let list = StoredValue<[Int]>(key: "k", default: [], storage: storage)
      let commits = (0..<20).map { number in
        list.modify { array in
          // Only in the transaction, where 5 is there already.
          array.append(number)
          if number == 6, array.contains(5) { throw Refused() }
        }
      }
      for (number, commit) in commits.enumerated() where number != 6 {
        try await commit.committed()
      }
      await #expect(throws: Refused.self) { try await commits[6].committed() }
      #expect(list.wrappedValue == (0..<20).filter { $0 != 6 })
    }
  }

  @Test func `a write that fails is taken back, in memory and for those who watch`() async throws {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("app.db"))
    let storage = SettingsStorage.database(db)
    let number = StoredValue<Int>(key: "n", default: 0, storage: storage)
    try await number.set(1).committed()
    var values = number.values.makeAsyncIterator()
    #expect(await values.next() == 1)
    // A trigger of the program's that refuses.
    try await db.write { connection in
      try connection.execute(
        """
        CREATE TRIGGER refuse BEFORE UPDATE ON stored_value WHEN new.value = '2'
        BEGIN SELECT raise(ABORT, 'not two'); END
        """)
    }
    let commit = number.set(2)
    #expect(number.wrappedValue == 2)
    #expect(await values.next() == 2)
    await #expect(throws: BoutiqueError.self) { try await commit.committed() }
    #expect(number.wrappedValue == 1)
    #expect(await values.next() == 1)
    #expect(number.error != nil)
    try await number.set(3).committed()
    #expect(number.wrappedValue == 3)
    #expect(number.error == nil)
    await db.close()
    await #expect(throws: (any Error).self) { try await number.set(4).committed() }
    #expect(number.wrappedValue == 3)
    try? await storage.close()
  }

  @Test func `a change that failed is not shown below those that are still on their way`()
    async throws
  {
    let directory = try TestDirectory()
    var configuration = BoutiqueConfiguration()
    configuration.groupCommitLimit = 1
    let db = try await BoutiqueDB.open(
      path: directory.file("app.db"), configuration: configuration)
    let storage = SettingsStorage.database(db)
    let list = StoredValue<[Int]>(key: "k", default: [], storage: storage)
    try await list.set([0]).committed()
    // One long write, then the change that fails, then another long write, then the change that waits.
    let gates = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    let isHeld = Mutex(false)
    let first = Task {
      try await db.write { _ in
        isHeld.withLock { $0 = true }
        gates[0].wait()
      }
    }
    while !isHeld.withLock(\.self) { try await Task.sleep(for: .milliseconds(1)) }
    let calls = Mutex(0)
    let failing = list.modify { array in
      array.append(1)
      // Not for what is shown, but in the transaction.
      let call = calls.withLock { calls -> Int in
        calls += 1
        return calls
      }
      if call > 1 { throw Refused() }
    }
    while db.waitingWriteCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
    let second = Task { try await db.write { _ in gates[1].wait() } }
    while db.waitingWriteCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
    let waiting = list.append(2)
    #expect(list.wrappedValue == [0, 1, 2])
    gates[0].signal()
    try await first.value
    await #expect(throws: Refused.self) { try await failing.committed() }
    #expect(list.wrappedValue == [0, 2])
    gates[1].signal()
    try await second.value
    try await waiting.committed()
    #expect(list.wrappedValue == [0, 2])
    await db.close()
  }

  @Test func `a settings file that is no database is told, never the default alone`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("settings.db")
    try String(repeating: "this is no database ", count: 100).write(
      toFile: path, atomically: true, encoding: .utf8)
    let before = FileManager.default.contents(atPath: path)
    let storage = SettingsStorage.path(path)
    let number = StoredValue<Int>(key: "n", default: 7, storage: storage)
    #expect(number.wrappedValue == 7)
    #expect(!number.isLoaded)
    #expect(number.error != nil)
    #expect(throws: BoutiqueError.self) { try number.get() }
    await #expect(throws: BoutiqueError.self) { try await number.set(8).committed() }
    #expect(number.wrappedValue == 7)
    #expect(FileManager.default.contents(atPath: path) == before)
    try? await storage.close()
  }

  @Test func `a settings file that can be read later is shown then`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("later/settings.db")
    let storage = SettingsStorage.path(path)
    let number = StoredValue<Int>(key: "n", default: 7, storage: storage)
    #expect(number.wrappedValue == 7)
    await #expect(throws: BoutiqueError.self) { try await number.set(8).committed() }
    try FileManager.default.createDirectory(
      atPath: directory.file("later"), withIntermediateDirectories: false)
    var values = number.values.makeAsyncIterator()
    #expect(await values.next() == 7)
    try await number.set(9).committed()
    #expect(await values.next() == 9)
    try await storage.close()
  }

  @Test func `a database in memory is read as soon as it can be`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    let first = SettingsStorage.database(db)
    try await StoredValue<Int>(key: "n", default: 0, storage: first).set(5).committed()
    try await first.close()
    let storage = SettingsStorage.database(db)
    let number = StoredValue<Int>(key: "n", default: 0, storage: storage)
    #expect(throws: StoredValueError.self) { try number.get() }
    try await number.load()
    #expect(try number.get() == 5)
    await db.close()
  }

  @Test func `the handler is told of what goes wrong`() async throws {
    let told = Mutex<[String]>([])
    let before = SettingsStorage.problemHandler
    defer { SettingsStorage.problemHandler = before }
    try await withSettings { storage, directory in
      let path = directory.file("settings.db")
      SettingsStorage.problemHandler = { problem in
        if problem.path == path { told.withLock { $0.append(problem.key ?? "") } }
      }
      let text = StoredValue<String>(key: "k", default: "", storage: storage)
      try await text.set("words").committed()
      let number = StoredValue<Int>(key: "k", default: 0, storage: storage)
      for _ in 0..<10 { #expect(number.wrappedValue == 0) }
      #expect(told.withLock(\.self) == ["k"])
    }
  }
}
