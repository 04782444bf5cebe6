import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What a store tells of itself.
@MainActor @Suite(.timeLimit(.minutes(2))) struct StoreEventTests {
  typealias Event = StoreEvent<Thing>

  /// Takes so many events.
  private func take(_ count: Int, of events: AsyncStream<Event>) async -> [Event] {
    var taken: [Event] = []
    var iterator = events.makeAsyncIterator()
    while taken.count < count, let event = await iterator.next(isolation: #isolation) {
      taken.append(event)
    }
    return taken
  }

  @Test func `each step is told, beginning with what happened last`() async throws {
    let store = unloaded { Store<Thing>(storage: MemoryStorageEngine(), cacheIdentifier: \.number) }
    let events = store.events
    try await store.itemsHaveLoaded()
    let later = store.events
    try await store.insert([.coat, .belt, .otherBelt])
    try await store.remove([.belt, .purse])
    try await store.insert(.purse).removeAll().insert(.sweater).run()
    let latest = store.events
    let expected: [Event] = [
      Event(operation: .initialized, items: []), Event(operation: .loaded, items: []),
      Event(operation: .insert, items: [.coat, .otherBelt]),
      // What was there, not what was named.
      Event(operation: .remove, items: [.otherBelt]),
      Event(operation: .insert, items: [.purse]),
      Event(operation: .remove, items: [.coat, .purse]),
      Event(operation: .insert, items: [.sweater]),
    ]
    #expect(await take(7, of: events) == expected)
    #expect(await take(6, of: later) == Array(expected.dropFirst()))
    #expect(await take(1, of: latest) == [expected[6]])
    #expect(expected.allSatisfy { !$0.isExternal })
  }

  @Test(arguments: [EngineKind.sqlite, .memory])
  func `another store of the process is told apart`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    let first = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    let second = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await first.insert(.coat)
    try await waitUntil("the coat") { second.items == [.coat] }
    let events = first.events
    try await second.insert([.coat, .belt])
    try await waitUntil("the belt") { first.items.count == 2 }
    try await second.remove(.coat)
    try await waitUntil("less") { first.items.count == 1 }
    // The coat was written as it was: that is no news.
    let told = await take(3, of: events)
    #expect(
      told == [
        Event(operation: .insert, items: [.coat]),
        Event(operation: .insert, items: [.belt], origin: .thisProcess),
        Event(operation: .remove, items: [.coat], origin: .thisProcess),
      ])
  }

  @Test func `another open database is another process, and a tool is foreign`() async throws {
    let directory = try TestDirectory()
    let engine = SQLiteStorageEngine(directory: .init(url: directory.url("a")))
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    let events = store.events
    var configuration = BoutiqueConfiguration()
    configuration.label = "other"
    let db = try await BoutiqueDB.open(
      path: directory.file("a/data.sqlite3"), configuration: configuration)
    let other = try await Store<Thing>(
      storage: SQLiteStorageEngine(database: db), cacheIdentifier: \.number)
    try await other.insert(.coat)
    try await waitUntil("the coat") { store.items == [.coat] }
    let shell = Process()
    shell.executableURL = URL(filePath: "/usr/bin/env")
    let json = #"{"number":"9","name":"by hand"}"#
    shell.arguments = [
      "sqlite3", "-cmd", ".timeout 20000", directory.file("a/data.sqlite3"),
      "DELETE FROM data; INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('9', '\(json)', 0, 0)",
    ]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    try await waitUntil("what the tool wrote") { store.items == [Thing("9", "by hand")] }
    let told = await take(4, of: events)
    #expect(told.map(\.operation) == [.loaded, .insert, .remove, .insert])
    #expect(told[1].origin == .process(pid: getpid(), label: "other"))
    #expect(told.map(\.isExternal) == [false, true, true, true])
    #expect(told[2...].allSatisfy { $0.origin == .foreign })
    await db.close()
  }

  @Test
  func `a commit that is seen before its writer knows of it is told once, as the store's own`()
    async throws
  {
    let engine = GatedEngine()
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await store.insert([.coat, .sweater])
    let events = store.events
    await engine.shut()
    let removing = Task { @MainActor in
      try await store.removeAll().insert([.belt, .purse]).remove(.purse).run()
    }
    try await waitUntil("what is committed") { store.items == [.belt] }
    await engine.open()
    try await removing.value
    #expect(store.items == [.belt])
    await engine.shut()
    let inserting = Task { @MainActor in try await store.insert(.coat) }
    try await waitUntil("the coat") { store.items == [.belt, .coat] }
    // Another takes it away before the writer knows that it was there.
    await engine.inner.remove(key: "1")
    try await waitUntil("the coat's end") { store.items == [.belt] }
    await engine.open()
    try await inserting.value
    try await store.insert(.sweater)
    let told = await take(8, of: events)
    #expect(told.prefix(4).map(\.operation) == [.insert, .remove, .insert, .remove])
    #expect(Set(told[1].items.map(\.number)) == ["1", "2"])
    #expect(told[2].items == [.belt, .purse] && told[3].items == [.purse])
    #expect(told.prefix(4).allSatisfy { $0.origin == .thisStore })
    // Whoever keeps account of the rest comes to the right end.
    var account: Set<String> = []
    for event in told.dropFirst(4) {
      let numbers = event.items.map(\.number)
      if event.operation == .insert {
        account.formUnion(numbers)
      } else {
        account.subtract(numbers)
      }
    }
    #expect(account == ["2"])
    #expect(store.items == [.belt, .sweater])
  }

  @Test func `what another removed while this store failed to is told`() async throws {
    let engine = GatedEngine()
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await store.insert(.coat)
    let events = store.events
    await engine.shut()
    let removing = Task { @MainActor in try await store.remove(.coat) }
    try await waitUntil("the coat's end") { store.items.isEmpty }
    await engine.open(throwing: PlainEngine.Refusal())
    await #expect(throws: PlainEngine.Refusal.self) { try await removing.value }
    let told = await take(2, of: events)
    #expect(told.last == Event(operation: .remove, items: [.coat], origin: .unknown))
  }

  @Test func `a slow reader gets everything in the place of what it missed`() async throws {
    let store = try await Store<Thing>(storage: MemoryStorageEngine(), cacheIdentifier: \.number)
    let events = store.events
    for number in 0..<300 { try await store.insert(Thing("\(number)", "thing")) }
    var iterator = events.makeAsyncIterator()
    var items: [String: Thing] = [:]
    var count = 0
    while items.count < 300, let event = await iterator.next(isolation: #isolation) {
      count += 1
      if event.operation == .loaded { items = [:] }
      for item in event.items { items[item.number] = item }
    }
    #expect(count < 200)
    #expect(items.count == 300)
  }

  @Test func `cancelling a reader and the end of the store end the sequence`() async throws {
    var store: Store<Thing>? = try await Store<Thing>(
      storage: MemoryStorageEngine(), cacheIdentifier: \.number)
    let events = try #require(store?.events)
    let reading = Task { @MainActor in
      var count = 0
      for await _ in events { count += 1 }
      return count
    }
    let others = try #require(store?.events)
    let cancelled = Task { @MainActor in
      var count = 0
      for await _ in others { count += 1 }
      return count
    }
    try await store?.insert(.coat)
    cancelled.cancel()
    _ = await cancelled.value
    store = nil
    #expect(await reading.value == 2)
  }
}
