import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What every engine of the library does.
@Suite(.timeLimit(.minutes(2))) struct EngineTests {
  private func data(_ text: String) -> Data { Data(text.utf8) }

  @Test(arguments: EngineKind.allCases)
  func `data lies under keys, in the order of their first writing`(_ kind: EngineKind) async throws
  {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    #expect(try await engine.read(key: "a") == nil)
    #expect(try await engine.keyCount() == 0)
    try await engine.write([("b", data("1")), ("a", data("2")), ("c", data("3")), ("a", data("4"))])
    try await engine.write(Data(), key: "0")
    try await engine.write(data("5"), key: "b")
    #expect(try await engine.allKeys() == ["b", "a", "c", "0"])
    #expect(try await engine.readAllData() == [data("5"), data("4"), data("3"), Data()])
    let all = try await engine.readAllDataAndKeys()
    #expect(all.map(\.key) == ["b", "a", "c", "0"] && all.map(\.data)[1] == data("4"))
    // Of present and absent keys the present ones, in the order asked for.
    #expect(
      try await engine.read(keys: ["c", "x", "a", "c"]) == [data("3"), data("4"), data("3")])
    let some = try await engine.readDataAndKeys(keys: ["c", "x", "b"])
    #expect(some.map(\.key) == ["c", "b"] && some.map(\.data) == [data("3"), data("5")])
    #expect(try await engine.keyExists("c"))
    #expect(try await !engine.keyExists("x"))
    #expect(try await engine.keysExist(["x", "0", "a"]) == ["0", "a"])
    #expect(try await engine.keyCount() == 4)
    try await engine.remove(key: "b")
    try await engine.remove(key: "x")
    try await engine.remove(keys: ["0", "y"])
    #expect(try await engine.allKeys() == ["a", "c"])
    try await engine.removeAllData()
    #expect(try await engine.allKeys().isEmpty)
    // An empty batch is no error.
    try await engine.write([])
    try await engine.remove(keys: [])
    try await engine.apply([])
    #expect(try await engine.read(keys: []).isEmpty)
  }

  @Test(arguments: EngineKind.allCases)
  func `several things are done in order and at once`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    try await engine.apply([.write("a", data("1")), .write("b", data("2"))])
    try await engine.apply([
      .write("c", data("3")), .removeAll, .write("b", data("4")), .write("a", data("5")),
      .remove("a"), .write("d", data("6")),
    ])
    let all = try await engine.readAllDataAndKeys()
    #expect(all.map(\.key) == ["b", "d"] && all.map(\.data) == [data("4"), data("6")])
  }

  @Test(arguments: EngineKind.allCases)
  func `when it was made stays, when it was written moves`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    let before = Date()
    try await engine.write(data("1"), key: "a")
    let created = try #require(try await engine.createdAt(key: "a"))
    #expect(created >= before.addingTimeInterval(-1) && created <= Date().addingTimeInterval(1))
    #expect(try await engine.updatedAt(key: "a") == created)
    var updated = created
    while updated <= created {
      try await engine.write(data("2"), key: "a")
      updated = try #require(try await engine.updatedAt(key: "a"))
    }
    #expect(try await engine.createdAt(key: "a") == created)
    #expect(try await engine.createdAt(key: "x") == nil)
    #expect(try await engine.updatedAt(key: "x") == nil)
  }

  static let oddKeys: [String] = [
    "", ".", "..", "/", "a/b", "../a", ".lock", ".journal", ".new-1", "%", "%41", "A", "%%",
    "a b\n",
    "a\u{0}b", "\u{e9}", "e\u{301}", "🐼", "https://example.org/a?b=c&d=%20#e", "a.json", ".hidden",
    String(repeating: "k", count: 255), String(repeating: "k", count: 256),
    String(repeating: "k", count: 10_000), String(repeating: "/", count: 100),
    String(repeating: "é", count: 200),
  ]

  @Test(arguments: EngineKind.allCases)
  func `any text is a key`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    for (number, key) in Self.oddKeys.enumerated() {
      try await engine.write(data("\(number)"), key: CacheKey(key))
    }
    for (number, key) in Self.oddKeys.enumerated() {
      #expect(try await engine.read(key: CacheKey(verbatim: key)) == data("\(number)"), "\(key)")
    }
    #expect(try await engine.allKeys() == Self.oddKeys.map { CacheKey($0) })
    guard kind != .memory else { return }
    let second = kind.engine(in: directory)
    #expect(try await second.allKeys() == Self.oddKeys.map { CacheKey($0) })
    try await second.remove(keys: Self.oddKeys.map { CacheKey($0) })
    #expect(try await engine.keyCount() == 0)
    // Nothing was written beside the directory.
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [kind.rawValue])
  }

  @Test(arguments: EngineKind.allCases)
  func `what has changed since a position is told, and where it cannot be, everything`(
    _ kind: EngineKind
  ) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    try await engine.write([("a", data("1")), ("b", data("2")), ("c", data("3"))])
    let first = try await engine.changes(since: nil)
    #expect(first.isEverything && first.entries.map(\.key) == ["a", "b", "c"])
    let none = try await engine.changes(since: first.position)
    #expect(!none.isEverything && none.entries.isEmpty && none.gone.isEmpty)
    #expect(none.position.covers(first.position))
    try await engine.write([("d", data("4")), ("b", data("5"))])
    try await engine.remove(key: "a")
    let some = try await engine.changes(since: first.position)
    #expect(!some.isEverything)
    #expect(some.entries.map(\.key) == ["b", "d"])
    #expect(some.entries.map(\.place) == [first.entries[1].place, some.entries[1].place])
    #expect(Array(some.gone.keys) == [first.entries[0].place])
    #expect(some.position.covers(first.position) && !first.position.covers(some.position))
    let other = try await engine.changes(since: StoragePosition(history: "another", number: 1))
    #expect(other.isEverything && other.entries.map(\.key) == ["b", "c", "d"])
    // Removed and written again it has another place.
    try await engine.apply([.remove("b"), .write("b", data("6"))])
    let again = try await engine.changes(since: some.position)
    #expect(again.entries.map(\.key) == ["b"])
    #expect(try await engine.allKeys() == ["c", "d", "b"])
  }

  @Test(arguments: EngineKind.allCases)
  func `news come once at first, and after each change`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    var iterator = engine.news().makeAsyncIterator()
    _ = try #require(try await iterator.next(isolation: #isolation))
    for number in 0..<3 {
      try await engine.write(data("\(number)"), key: "a")
      _ = try #require(try await iterator.next(isolation: #isolation))
    }
    guard kind != .memory else { return }
    let other = kind.engine(in: directory)
    try await other.write(data("other"), key: "b")
    _ = try #require(try await iterator.next(isolation: #isolation))
  }

  // In a process of its own, since the environment belongs to all tests of this one.
  @Test func `directories are those of the XDG specification`() async {
    await #expect(processExitsWith: .success) {
      let variables = [
        "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_DOCUMENTS_DIR",
      ]
      for variable in variables { setenv(variable, "/x/" + variable, 1) }
      let name = ProcessInfo.processInfo.processName
      typealias Directory = FileManager.Directory
      func path(_ directory: Directory) -> String { directory.url.path }
      #expect(path(.applicationSupport(appendingPath: "a")) == "/x/XDG_DATA_HOME/\(name)/a")
      #expect(
        path(.defaultStorageDirectory(appendingPath: "a/b")) == "/x/XDG_DATA_HOME/\(name)/a/b")
      #expect(path(.caches(appendingPath: "a")) == "/x/XDG_CACHE_HOME/\(name)/a")
      #expect(path(.documents(appendingPath: "a")) == "/x/XDG_DOCUMENTS_DIR/a")
      #expect(
        path(.sharedContainer(forAppGroupIdentifier: "org.example", appendingPath: "a"))
          == "/x/XDG_DATA_HOME/org.example/a")
      // Relative ones are to be ignored.
      for variable in variables { setenv(variable, "relative", 1) }
      setenv("HOME", "/home/somebody", 1)
      #expect(
        path(.applicationSupport(appendingPath: "a")) == "/home/somebody/.local/share/\(name)/a")
      #expect(path(.caches(appendingPath: "a")) == "/home/somebody/.cache/\(name)/a")
      #expect(path(.documents(appendingPath: "a")) == "/home/somebody/Documents/a")
    }
  }

  @Test func `an MD5 digest is what others make of it`() {
    #expect(CacheKey("cache-key").value == "2536A137-81F3-3E55-574F-AFF9ACB9F995")
    #expect(CacheKey("").value == "D41D8CD9-8F00-B204-E980-0998ECF8427E")
    #expect(CacheKey("abc").value == "90015098-3CD2-4FB0-D696-3F7D28E17F72")
    let digits = String(repeating: "1234567890", count: 8)
    #expect(CacheKey(digits).value == "57EDF4A2-2BE3-C955-AC49-DA2E2107B67A")
    #expect(CacheKey(verbatim: "cache-key").value == "cache-key")
    #expect(CacheKey("a") == CacheKey(verbatim: "a"))
    #expect(CacheKey("\u{e9}") != CacheKey("e\u{301}"))
    #expect(CacheKey(url: URL(filePath: "/a b")).rawValue == "file:///a%20b")
  }

  @Test(arguments: [55, 56, 57, 63, 64, 65, 119, 120, 1000])
  func `an MD5 digest is that of md5sum, at the bounds of its blocks`(length: Int) throws {
    let text = String(repeating: "ab%", count: length).prefix(length)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sh", "-c", "printf %s \"$1\" | md5sum", "sh", String(text)]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let digest = CacheKey(String(text)).value.replacing("-", with: "").lowercased()
    #expect(String(decoding: output, as: UTF8.self).hasPrefix(digest))
  }

  @Test(arguments: EngineKind.allCases)
  func `objects lie under keys`(_ kind: EngineKind) async throws {
    let directory = try TestDirectory()
    let engine = kind.engine(in: directory)
    let storage = ObjectStorage<Thing>(storage: engine)
    #expect(try await storage.object(forKey: "a") == nil)
    try await storage.store(.coat, forKey: "a")
    try await storage.store([("b", .belt), ("c", .purse)])
    #expect(try await storage.object(forKey: "a") == .coat)
    #expect(try await storage.objects(forKeys: ["c", "x", "b"]) == [.purse, .belt])
    let some = try await storage.objectsAndKeys(keys: ["x", "b"])
    #expect(some.map(\.key) == ["b"] && some.map(\.object) == [.belt])
    #expect(try await storage.allObjects() == [.coat, .belt, .purse])
    #expect(try await storage.allObjectsAndKeys().map(\.key) == ["a", "b", "c"])
    #expect(try await storage.createdAt(forKey: "a") != nil)
    #expect(try await storage.updatedAt(forKey: "x") == nil)
    try await storage.removeObject(forKey: "a")
    try await storage.removeObject(forKeys: ["b"])
    #expect(try await storage.keyCount() == 1)
    try await engine.write(data("{"), key: "c")
    await #expect(throws: StoreError.self) { _ = try await storage.object(forKey: "c") }
    try await storage.removeAllObjects()
    #expect(try await storage.allKeys().isEmpty)
  }
}
