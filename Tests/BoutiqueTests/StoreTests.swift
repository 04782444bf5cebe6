import Boutique
import Foundation
import Observation
import TestDatabase
import Testing

/// What a store does for one process.
@MainActor @Suite(.timeLimit(.minutes(2))) struct StoreTests {
  private func store(
    _ kind: EngineKind, _ directory: TestDirectory
  ) async throws -> Store<Thing> {
    try await Store(storage: kind.engine(in: directory), cacheIdentifier: \.number)
  }

  @Test(arguments: EngineKind.allCases)
  func
    `five items of which two share an identifier are four, in their order, the last value of each`(
      _ kind: EngineKind
    ) async throws
  {
    let directory = try TestDirectory()
    let store = try await store(kind, directory)
    try await store.insert([.belt, .coat, .sweater, .purse, .otherBelt])
    #expect(store.items == [.otherBelt, .coat, .sweater, .purse])
    try await store.insert(.belt)
    #expect(store.items == [.belt, .coat, .sweater, .purse])
  }

  @Test(arguments: EngineKind.lasting)
  func `a second store on the files has the same items in the same order`(
    _ kind: EngineKind
  ) async throws {
    let directory = try TestDirectory()
    let names = ["zeta", "alpha", "mid", "Ω", "10", "9"]
    do {
      let store = try await store(kind, directory)
      for name in names { try await store.insert(Thing(name, name)) }
      // Removed and inserted again it is the last; replaced it stays where it is.
      try await store.remove(Thing("alpha", ""))
      try await store.insert(Thing("alpha", "again"))
      try await store.insert(Thing("mid", "other"))
      #expect(store.items.map(\.number) == ["zeta", "mid", "Ω", "10", "9", "alpha"])
    }
    let second = try await store(kind, directory)
    #expect(second.items.map(\.number) == ["zeta", "mid", "Ω", "10", "9", "alpha"])
    #expect(second.items.map(\.name) == ["zeta", "other", "Ω", "10", "9", "again"])
  }

  @Test(arguments: EngineKind.allCases)
  func `two stores on one engine follow each other`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    let first = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    let second = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    try await first.insert(Thing.all)
    try await waitUntil("all") { second.items == Thing.all }
    try await second.remove([.coat, .purse])
    try await waitUntil("two less") { first.items == [.sweater, .belt] }
    try await first.removeAll().insert([.otherBelt, .coat]).run()
    try await waitUntil("two others") { second.items == [.otherBelt, .coat] }
  }

  @Test(arguments: EngineKind.allCases)
  func `one, several and all items are removed`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let store = try await store(kind, directory)
    try await store.insert(Thing.all)
    try await store.remove(.sweater)
    #expect(store.items == [.coat, .purse, .belt])
    // By identifier, whatever else is in it; one that is not there is no error.
    try await store.remove([.otherBelt, Thing("5", "nowhere"), .coat])
    #expect(store.items == [.purse])
    try await store.removeAll()
    #expect(store.items.isEmpty)
    try await store.removeAll()
    try await store.insert([])
    try await store.remove([])
    #expect(store.items.isEmpty)
  }

  @Test(arguments: EngineKind.lasting)
  func `a chain is what its end says, in memory and after a reload`(_ kind: EngineKind) async throws
  {
    let directory = try TestDirectory()
    do {
      let store = try await store(kind, directory)
      try await store.insert([.sweater, .belt])
      try await store.insert(.coat).removeAll().insert([.purse, .belt]).run()
      #expect(store.items == [.purse, .belt])
      try await store.remove(.purse).insert(.coat).remove([.belt]).insert([.sweater, .otherBelt])
        .run()
      #expect(store.items == [.coat, .sweater, .otherBelt])
    }
    let reloaded = try await store(kind, directory)
    #expect(reloaded.items == [.coat, .sweater, .otherBelt])
  }

  @Test func `a chain is one change of memory`() async throws {
    let directory = try TestDirectory()
    let store = try await store(.sqlite, directory)
    try await store.insert(Thing.all)
    var seen: [[Thing]] = []
    let watching = Task { @MainActor in
      for await items in Observations({ store.items }) { seen.append(items) }
    }
    defer { watching.cancel() }
    try await waitUntil("the first value") { !seen.isEmpty }
    try await store.removeAll().insert(.belt).insert(.coat).remove(.belt).run()
    try await waitUntil("the change") { seen.count > 1 }
    try await store.insert(.purse)
    try await waitUntil("the next change") { seen.count > 2 }
    #expect(seen == [Thing.all, [.coat], [.coat, .purse]])
  }

  @Test func `without run nothing happens, and running twice is running once`() async throws {
    let engine = MemoryStorageEngine()
    let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    let chain = store.insert(.coat).insert(.belt)
    for _ in 0..<10 { await Task.yield() }
    let before = await engine.allKeys()
    #expect(store.items.isEmpty && before.isEmpty)
    try await chain.run()
    #expect(store.items == [.coat, .belt])
    try await store.remove(.coat)
    try await chain.run()
    #expect(store.items == [.belt])
  }

  @Test(arguments: EngineKind.lasting)
  func `a hundred concurrent insertions are all there`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    do {
      let store = try await store(kind, directory)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask { try await store.insert(Thing("\(number)", "thing")) }
        }
        try await group.waitForAll()
      }
      #expect(Set(store.items.map(\.number)) == Set((0..<100).map { "\($0)" }))
      #expect(store.items.count == 100)
    }
    #expect(try await store(kind, directory).items.count == 100)
  }

  @Test func `what is inserted before loading has ended is not lost`() async throws {
    let directory = try TestDirectory()
    let many = (0..<3000).map { Thing("\($0)", "old") }
    do { try await store(.sqlite, directory).insert(many) }
    let store = unloaded {
      Store<Thing>(storage: EngineKind.sqlite.engine(in: directory), cacheIdentifier: \.number)
    }
    #expect(store.items.isEmpty && !store.hasLoaded)
    try await store.insert([Thing("new", "new"), Thing("7", "newer")])
    #expect(store.items.count == 3001)
    #expect(store.items[7].name == "newer")
    #expect(store.items.last == Thing("new", "new"))
  }

  @Test func `identifiers are told apart byte for byte`() async throws {
    let directory = try TestDirectory()
    let store = try await store(.sqlite, directory)
    let numbers = [
      "\u{e9}", "e\u{301}", "", "a\u{0}b", "a", "A", String(repeating: "x", count: 5000),
    ]
    try await store.insert(numbers.map { Thing($0, $0) })
    #expect(store.items.map { Array($0.number.utf8) } == numbers.map { Array($0.utf8) })
    try await store.remove(Thing("e\u{301}", ""))
    #expect(store.items.count == 6)
    #expect(store.items.first.map { Array($0.number.utf8) } == Array("\u{e9}".utf8))
  }

  struct Numbered: Codable, Sendable, Equatable, Identifiable {
    var id: Int
  }

  struct Named: Codable, Sendable, Equatable, Identifiable {
    var id: UUID
  }

  struct Tagged: Codable, Sendable, Equatable, Identifiable {
    struct ID: RawRepresentable, Codable, Sendable, Hashable {
      var rawValue: String
    }
    var id: ID
  }

  enum Theme: String, Codable, Sendable, Equatable {
    case light
    case dark
    case system
  }

  @Test func `items that are identifiable need no identifier named`() async throws {
    let numbered = try await Store<Numbered>(storage: MemoryStorageEngine())
    try await numbered.insert([Numbered(id: -2), Numbered(id: 3), Numbered(id: -2)])
    #expect(numbered.items.map(\.id) == [-2, 3])
    let named = unloaded { Store<Named>(storage: MemoryStorageEngine()) }
    let item = Named(id: UUID())
    try await named.insert([item, item])
    #expect(named.items == [item])
    let tagged = unloaded { Store<Tagged>(storage: MemoryStorageEngine()) }
    try await tagged.insert(Tagged(id: .init(rawValue: "a")))
    #expect(tagged.items.count == 1)
    // An enumeration, which is no object in JSON.
    let themes = try await Store<Theme>(
      storage: MemoryStorageEngine(), cacheIdentifier: \.rawValue)
    try await themes.insert([.dark, .light, .dark])
    #expect(themes.items == [.dark, .light])
  }

  @Test func `a preview has its items at once`() async throws {
    let store = Store.previewStore(items: Thing.all + [.otherBelt], cacheIdentifier: \.number)
    #expect(store.items == [.coat, .sweater, .purse, .otherBelt])
    try await store.insert(Thing("5", "scarf"))
    #expect(store.items.map(\.number) == ["1", "2", "3", "4", "5"])
    #expect(Store.previewStore(items: [Named(id: UUID())]).items.count == 1)
  }

  @Test func `what waits for the loading is called when it is done, or at once`() async throws {
    let store = unloaded {
      Store<Thing>(storage: MemoryStorageEngine(), cacheIdentifier: \.number)
    }
    var calls = 0
    store.onDidLoad { calls += 1 }
    #expect(calls == 0)
    try await store.itemsHaveLoaded()
    try await waitUntil("the call") { calls == 1 }
    store.onDidLoad { calls += 1 }
    #expect(calls == 2)
  }

  @Test func `a store that nobody has any more goes, and its database is closed`() async throws {
    let directory = try TestDirectory()
    weak var store: Store<Thing>?
    do {
      let made = try await self.store(.sqlite, directory)
      store = made
      try await made.insert(.coat)
      #expect(store != nil)
    }
    try await waitUntil("the end of the store") { store == nil }
    try await waitUntil("the end of the database") {
      (try? TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)) != nil
    }
  }
}
