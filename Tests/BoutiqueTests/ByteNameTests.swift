import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Names that Unicode takes for the same, and quotation marks that are part of another character.
@Suite(.timeLimit(.minutes(2))) @MainActor
struct ByteNameTests {
  private let one = "\u{e9}"
  private let two = "e\u{301}"

  @Test func `values whose keys only look the same are two`() async throws {
    try await withSecrets { open, _ in
      let a = StoredValue<Int>(wrappedValue: 0, key: one, storage: open())
      let b = StoredValue<Int>(wrappedValue: 0, key: two, storage: open())
      let c = SecurelyStoredValue<Int>(key: one, storage: open())
      let d = SecurelyStoredValue<Int>(key: two, storage: open())
      try await a.set(1).committed()
      try await b.set(2).committed()
      try await c.set(3).committed()
      try await d.set(4).committed()
      for _ in 0..<2 {
        #expect(a.wrappedValue == 1)
        #expect(b.wrappedValue == 2)
        #expect(try c.get() == 3)
        #expect(try d.get() == 4)
        #expect(try await open().rotateKey() == 2)
        try await open().close()
      }
      try await b.modify { $0 += 10 }.committed()
      #expect(a.wrappedValue == 1)
      #expect(b.wrappedValue == 12)
    }
  }

  @Test func `files whose names only look the same are two`() async throws {
    let directory = try TestDirectory()
    let storages = [one, two].map { SettingsStorage.path(directory.file($0)) }
    for (number, storage) in storages.enumerated() {
      let value = StoredValue<Int>(wrappedValue: 0, key: "n", storage: storage)
      try await value.set(number + 1).committed()
    }
    for storage in storages { try await storage.close() }
    #expect(try readRows(directory.file(one)) == ["n": "1"])
    #expect(try readRows(directory.file(two)) == ["n": "2"])
    let engines = [one, two].map {
      SQLiteStorageEngine(directory: .init(url: directory.url("e")), databaseFilename: $0)
    }
    for (number, engine) in engines.enumerated() {
      try await engine.write(Data([UInt8(number)]), key: "n")
    }
    for (number, engine) in engines.enumerated() {
      #expect(try await engine.read(key: "n") == Data([UInt8(number)]))
    }
  }

  @Test(arguments: ["\u{FEFF}x", "\u{FEFF}", "x\u{FEFF}", "\u{e9}", "e\u{301}", "\u{0}"])
  func `any text is a key of files`(_ text: String) async throws {
    let directory = try TestDirectory()
    let engine = DiskStorageEngine(directory: .init(url: directory.url("place")))
    let key = CacheKey(verbatim: text)
    try await engine.write(Data([1]), key: "before")
    try await engine.write(Data([2]), key: key)
    try await engine.write(Data([3]), key: "after")
    #expect(try await engine.allKeys() == ["before", key, "after"])
    try await engine.remove(key: key)
    #expect(try await engine.allKeys() == ["before", "after"])
  }

  @Test(arguments: ["a\"\u{301} (x); --", "\"\u{301}", "a\"b", "\u{301}"])
  func `a quotation mark with a combining mark is one in a table's name, too`(_ name: String)
    async throws
  {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("app.db"))
    let engine = SQLiteStorageEngine(database: db, tableName: name)
    try await engine.write(Data([1]), key: "k")
    #expect(try await engine.read(key: "k") == Data([1]))
    let tables = try await db.read { connection in
      try connection.query("SELECT count(*) FROM sqlite_schema WHERE name = ?", name)[0]
        .decode(0, as: Int.self)
    }
    #expect(tables == 1)
    await db.close()
  }
}
