import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What a store does when its engine cannot.
@MainActor @Suite(.timeLimit(.minutes(2))) struct StoreFailureTests {
  @Test func `a failed write leaves memory as it was and throws`() async throws {
    let engine = PlainEngine()
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await store.insert([.coat, .belt])
    await engine.refuse(writing: true)
    let events = store.events
    await #expect(throws: PlainEngine.Refusal.self) { try await store.insert(.purse) }
    await #expect(throws: PlainEngine.Refusal.self) { try await store.remove(.belt) }
    let chain = store.removeAll().insert(.purse)
    await #expect(throws: PlainEngine.Refusal.self) { try await chain.run() }
    #expect(store.items == [.coat, .belt])
    await engine.refuse()
    // What failed may be tried again.
    try await chain.run()
    #expect(store.items == [.purse])
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next(isolation: #isolation)?.operation == .insert)
    #expect(await iterator.next(isolation: #isolation)?.operation == .remove)
  }

  @Test func `a store that cannot be read is not empty: loading throws, and nothing is written`()
    async throws
  {
    let engine = PlainEngine()
    try await engine.write(Data(#"{"number":"1","name":"coat"}"#.utf8), key: "1")
    await engine.refuse(reading: true)
    let store = unloaded { Store<Thing>(storage: engine, cacheIdentifier: \.number) }
    await #expect(throws: PlainEngine.Refusal.self) { try await store.itemsHaveLoaded() }
    await #expect(throws: PlainEngine.Refusal.self) { try await store.insert(.belt) }
    #expect(store.problem is PlainEngine.Refusal)
    #expect(!store.hasLoaded)
    await engine.refuse()
    #expect(try await engine.keyCount() == 1)
    try await store.itemsHaveLoaded()
    #expect(store.items == [.coat])
    #expect(store.problem == nil)
  }

  @Test func `a directory that is a file, a database that is none`() async throws {
    let directory = try TestDirectory()
    try "no database, and no directory".write(
      toFile: directory.file("data.sqlite3"), atomically: true, encoding: .utf8)
    let engine = SQLiteStorageEngine(directory: .init(url: directory.url(".")))
    let store = unloaded { Store<Thing>(storage: engine, cacheIdentifier: \.number) }
    await #expect(throws: BoutiqueError.self) { try await store.itemsHaveLoaded() }
    await #expect(throws: BoutiqueError.self) { try await store.insert(.coat) }
    await #expect(throws: BoutiqueError.self) { _ = try await engine.readAllData() }
    let below = SQLiteStorageEngine(directory: .init(url: directory.url("data.sqlite3/below")))
    await #expect(throws: BoutiqueError.self) { _ = try await below.keyCount() }
    let files = DiskStorageEngine(directory: .init(url: directory.url("data.sqlite3/below")))
    await #expect(throws: BoutiqueError.self) { _ = try await files.keyCount() }
  }

  @Test(arguments: [EngineKind.sqlite, .memory])
  func `an item that cannot be decoded fails the loading, with its key`(
    _ kind: EngineKind
  ) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    try await engine.write(Data(#"{"number":"1"}"#.utf8), key: "1")
    let store = unloaded { Store<Thing>(storage: engine, cacheIdentifier: \.number) }
    let error = await #expect(throws: StoreError.self) { try await store.itemsHaveLoaded() }
    let message = "\(try #require(error))"
    #expect(message.contains("“1” cannot be read as Thing: “name” is missing"))
    #expect(store.items.isEmpty && !store.hasLoaded)
    await #expect(throws: StoreError.self) { try await store.removeAll() }
    #expect(try await engine.keyCount() == 1)
  }

  @Test(arguments: [EngineKind.sqlite, .memory])
  func `one that comes later leaves the item as it was, and the others follow`(
    _ kind: EngineKind
  ) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await store.insert([.coat, .belt])
    try await engine.apply([
      .write("1", Data("{}".utf8)), .write("8", Data("[".utf8)), .remove("4"),
      .write("3", Data(#"{"number":"3","name":"purse"}"#.utf8)),
    ])
    try await waitUntil("the purse") { store.items == [.coat, .purse] }
    guard case .undecodable(let key, _, _)? = store.problem as? StoreError else {
      Issue.record("\(String(describing: store.problem))")
      return
    }
    #expect(key == "1")
    // Writing goes on, and what is written over is well again.
    try await store.insert([Thing("1", "new"), Thing("8", "eight")])
    #expect(Set(store.items.map(\.name)) == ["new", "purse", "eight"])
    #expect(store.problem == nil)
  }

  struct Measure: Codable, Sendable, Equatable, Identifiable {
    var id: String
    var value: Double
  }

  @Test func `an item that cannot be encoded is an error, and none of its neighbours is written`()
    async throws
  {
    let store = try await Store<Measure>(storage: MemoryStorageEngine())
    await #expect(throws: EncodingError.self) {
      try await store.insert([Measure(id: "a", value: 1), Measure(id: "b", value: .nan)])
    }
    #expect(store.items.isEmpty)
  }

  @Test func `a cancelled task writes nothing`() async throws {
    let store = try await Store<Thing>(storage: MemoryStorageEngine(), cacheIdentifier: \.number)
    let writing = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.insert(.coat)
    }
    await #expect(throws: CancellationError.self) { try await writing.value }
    #expect(store.items.isEmpty)
  }

  @Test func `a simple engine that fails in the midst of a chain says what is there`() async throws
  {
    actor Failing: StorageEngine {
      let plain = PlainEngine()
      func write(_ data: Data, key: CacheKey) async throws {
        if key == "4" { throw PlainEngine.Refusal() }
        try await plain.write(data, key: key)
      }
      func read(key: CacheKey) async throws -> Data? { try await plain.read(key: key) }
      func remove(key: CacheKey) async throws { try await plain.remove(key: key) }
      func allKeys() async throws -> [CacheKey] { try await plain.allKeys() }
      func createdAt(key: CacheKey) -> Date? { nil }
      func updatedAt(key: CacheKey) -> Date? { nil }
    }
    let store = try await Store<Thing>(storage: Failing(), cacheIdentifier: \.number)
    try await store.insert([.coat, .sweater])
    await #expect(throws: PlainEngine.Refusal.self) {
      try await store.remove(.coat).insert([.purse, .belt]).run()
    }
    // Not all or nothing, and the next step tells the truth.
    try await store.insert(.purse)
    #expect(store.items.map(\.number).sorted() == ["2", "3"])
  }

  @Test func `a program's own engine has its items again in the next store`() async throws {
    let engine = PlainEngine()
    do {
      let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
      try await store.insert([.belt, .coat])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 10..<60 {
          group.addTask { try await store.insert(Thing("\(number)", "thing")) }
        }
        try await group.waitForAll()
      }
      #expect(store.items.count == 52)
      #expect(store.items.prefix(2) == [.belt, .coat])
    }
    #expect(
      try await Store<Thing>(storage: engine, cacheIdentifier: \.number).items.count == 52)
  }
}
