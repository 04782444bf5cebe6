import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What is special to data in a database.
@Suite(.timeLimit(.minutes(2))) struct EngineSQLiteTests {
  private func engine(_ directory: TestDirectory, _ table: String = "data") -> SQLiteStorageEngine {
    SQLiteStorageEngine(directory: .init(url: directory.url("place")), tableName: table)
  }

  @Test func `two engines of one file have one open database`() async throws {
    let directory = try TestDirectory()
    let (first, second, other) = (engine(directory), engine(directory), engine(directory, "other"))
    async let one = first.database()
    async let two = second.database()
    let (a, b) = try await (one, two)
    let c = try await other.database()
    #expect(a === b && b === c)
    try await other.write(Data("x".utf8), key: "k")
    #expect(try await first.keyCount() == 0)
  }

  @Test func `a file that was replaced is opened anew, and the store follows`() async throws {
    let directory = try TestDirectory()
    let engine = engine(directory)
    try await engine.write(Data("old".utf8), key: "k")
    try FileManager.default.removeItem(atPath: directory.file("place"))
    await #expect(throws: BoutiqueError.self) {
      try await engine.write(Data(), key: "x")
    }
    // From here on the old file is forgotten.
    #expect(try await engine.keyCount() == 0)
    try await engine.write(Data("new".utf8), key: "k")
    #expect(try await engine.readAllData() == [Data("new".utf8)])
  }

  @Test func `a store whose file was removed follows what is there then`() async throws {
    let directory = try TestDirectory()
    let store = try await Store<Thing>(storage: engine(directory), cacheIdentifier: \.number)
    try await store.insert(.coat)
    try FileManager.default.removeItem(atPath: directory.file("place"))
    // Whoever looks first, this or the store's own watching, is told that the file is gone.
    do { try await store.insert(.belt) } catch is BoutiqueError {}
    try await waitUntil("the new file's items") {
      !store.items.contains(.coat) && store.problem == nil
    }
    try await store.insert(.belt)
    let other = try await Store<Thing>(storage: engine(directory), cacheIdentifier: \.number)
    #expect(await other.items == [.belt])
  }

  @Test func `nothing is made before the first use`() async throws {
    let directory = try TestDirectory()
    let engine = engine(directory)
    #expect(!FileManager.default.fileExists(atPath: directory.file("place")))
    #expect(try await engine.keyCount() == 0)
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("place"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test func `more keys than a statement takes are read`() async throws {
    let directory = try TestDirectory()
    let engine = engine(directory)
    let keys = (0..<260_000).map { CacheKey("\($0)") }
    try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
    #expect(try await engine.read(keys: keys).count == 260_000)
    #expect(try await engine.keysExist(keys + ["x"]).count == 260_000)
    try await engine.remove(keys: Array(keys.dropFirst()))
    #expect(try await engine.allKeys() == ["0"])
  }

  @Test func `the file shrinks when everything is removed`() async throws {
    let directory = try TestDirectory()
    let engine = engine(directory)
    let large = Data(repeating: 65, count: 4000)
    try await engine.write((0..<1000).map { (CacheKey("\($0)"), large) })
    _ = try await engine.database().checkpoint(.truncate)
    func size() throws -> Int {
      try #require(
        FileManager.default.attributesOfItem(atPath: directory.file("place/data.sqlite3"))[.size]
          as? Int)
    }
    let before = try size()
    #expect(before > 4_000_000)
    try await engine.removeAllData()
    #expect(try size() < before / 10)
    try await engine.write(large, key: "k")
    #expect(try await engine.readAllData() == [large])
  }

  @Test func `the same for a store that removes everything`() async throws {
    let directory = try TestDirectory()
    let store = try await Store<Thing>(storage: engine(directory), cacheIdentifier: \.number)
    let name = String(repeating: "n", count: 4000)
    try await store.insert((0..<1000).map { Thing("\($0)", name) })
    try await store.removeAll()
    try await waitUntil("a small file") {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: directory.file("place/data.sqlite3"))
      return (attributes[.size] as? Int ?? .max) < 400_000
    }
    try await store.insert(.coat)
    #expect(await store.items == [.coat])
  }

  @Test func `a table that is another's is left alone`() async throws {
    try await withTestDatabase { db, _ in
      try await db.write { try $0.executeScript("CREATE TABLE data (key TEXT, body TEXT)") }
      let engine = SQLiteStorageEngine(database: db)
      await #expect(throws: StoreError.self) { try await engine.write(Data(), key: "k") }
      #expect(try await db.count(of: "SELECT * FROM data") == 0)
      // A name that needs quotes.
      let odd = SQLiteStorageEngine(database: db, tableName: "my \"data\"")
      try await odd.write(Data("1".utf8), key: "k")
      #expect(try await odd.readAllData() == [Data("1".utf8)])
      let store = try await Store<Thing>(
        storage: SQLiteStorageEngine(database: db, tableName: "my 'things'"),
        cacheIdentifier: \.number)
      try await store.insert([.coat, .belt])
      try await store.remove(.coat)
      #expect(await store.items == [.belt])
    }
  }

  @Test func `a table of Boutique on Apple systems gets its order and keeps its times`()
    async throws
  {
    try await withTestDatabase { db, _ in
      try await db.write { conn in
        try conn.executeScript(
          """
          CREATE TABLE data (key TEXT PRIMARY KEY, value BLOB, createdAt TEXT, updatedAt TEXT);
          INSERT INTO data VALUES
            ('z', '{"number":"z","name":"first"}', '2024-01-02T03:04:05.000', '2024-01-02T03:04:06.500'),
            ('a', '{"number":"a","name":"second"}', '2024-01-02T03:04:05.000', NULL);
          """)
      }
      let engine = SQLiteStorageEngine(database: db)
      #expect(try await engine.allKeys() == ["z", "a"])
      let created = try #require(try await engine.createdAt(key: "z")).timeIntervalSince1970
      let updated = try #require(try await engine.updatedAt(key: "z")).timeIntervalSince1970
      #expect(abs(created - 1_704_164_645) < 0.01 && abs(updated - 1_704_164_646.5) < 0.01)
      let store = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
      #expect(await store.items == [Thing("z", "first"), Thing("a", "second")])
    }
  }

  @Test func `a database in memory and one for this process alone carry a store`() async throws {
    let directory = try TestDirectory()
    var alone = BoutiqueConfiguration()
    alone.multiProcess = false
    for db in [
      try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL()),
      try await BoutiqueDB.open(path: directory.file("alone.db"), configuration: alone),
    ] {
      let engine = SQLiteStorageEngine(database: db)
      let first = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
      let second = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
      let position = try await engine.changes(since: nil).position
      try await first.insert(Thing.all)
      try await waitUntil("all") { second.items == Thing.all }
      // Not everything again for every change.
      #expect(try await !engine.changes(since: position).isEverything)
      await db.close()
    }
  }

  @Test func `places that another key has by now are told apart`() async throws {
    try await withTestDatabase { db, _ in
      let store = try await Store<Thing>(
        storage: SQLiteStorageEngine(database: db), cacheIdentifier: \.number)
      try await store.insert([.coat, .belt])
      let events = await store.events
      // The last row's number is given to the next one.
      try await db.write { conn in
        try conn.execute("DELETE FROM data WHERE key = '4'")
        try conn.execute(
          "INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('9', ?, 0, 0)",
          #"{"number":"9","name":"nine"}"#)
      }
      try await waitUntil("the nine") { store.items == [.coat, Thing("9", "nine")] }
      var iterator = events.makeAsyncIterator()
      _ = await iterator.next(isolation: #isolation)
      let removed = await iterator.next(isolation: #isolation)
      #expect(removed == StoreEvent(operation: .remove, items: [.belt], origin: .thisProcess))
      let inserted = await iterator.next(isolation: #isolation)
      #expect(
        inserted
          == StoreEvent(operation: .insert, items: [Thing("9", "nine")], origin: .thisProcess))
      try await store.insert(.belt)
      #expect(await store.items == [.coat, Thing("9", "nine"), .belt])
    }
  }
}
