import Boutique
import Foundation
import Observation
import TestDatabase
import Testing

// BEGIN beginning
struct Note: Codable, Sendable, Identifiable, Equatable {
  let id: String
  var text: String
}

extension Store where Item == Note {
  static let notes = Store<Note>(
    storage: SQLiteStorageEngine.default(appendingPath: "Notes")
  )
}

@MainActor @Observable
final class NotesController {
  @ObservationIgnored @Stored(in: .notes) var notes

  func save(_ note: Note) async throws { try await $notes.insert(note) }
}
// END beginning

/// The code of docs/boutique.md.
@MainActor @Suite(.timeLimit(.minutes(2))) struct BoutiqueStorePage {
  private static let note = Note(id: "1", text: "one")
  private static let notes = [Note(id: "2", text: "two"), Note(id: "3", text: "three")]

  private func calls(_ engine: any StorageEngine, _ note: Note, _ notes: [Note]) async throws
    -> Store<Note>
  {
    // BEGIN calls
    let store = try await Store<Note>(storage: engine)  // its items are loaded

    try await store.insert(note)  // on the disk, and in `items`, when this returns
    try await store.insert(notes)  // many in one transaction
    try await store.remove(note)
    try await store.remove(notes)
    try await store.removeAll()

    // Several changes at once: one transaction, one change of `items`.
    try await store.removeAll().insert(notes).run()

    for note in store.items { print(note.text) }
    // END calls
    return store
  }

  private func loading(_ store: Store<Note>, print: @escaping @MainActor (Any) -> Void) async throws
  {
    func look(_ values: Any?...) {}
    try await store.itemsHaveLoaded()
    look(store.hasLoaded, store.problem)
    store.onDidLoad {
      print("loaded")
    } onError: { error in
      print(error)
    }
  }

  private func events(
    _ store: Store<Note>, show: ([Note]) -> Void, add: ([Note]) -> Void, take: ([Note]) -> Void
  ) async {
    // BEGIN events
    for await event in store.events {
      switch event.operation {
      case .initialized: break
      case .loaded: show(event.items)  // all of them
      case .insert: add(event.items)
      case .remove: take(event.items)
      }
      if event.isExternal { print("another process did it: \(event.origin)") }
    }
    // END events
  }

  @Test func `calls, loading, events`() async throws {
    let store = try await calls(MemoryStorageEngine(), Self.note, Self.notes)
    #expect(store.items == Self.notes)
    var printed: [String] = []
    try await loading(store) { printed.append("\($0)") }
    #expect(printed == ["loaded"])
    var shown: [[Note]] = []
    let telling = Task { @MainActor in
      await events(
        store, show: { shown.append($0) }, add: { shown.append($0) }, take: { shown.append($0) })
    }
    while shown.isEmpty { await Task.yield() }
    try await store.remove(Self.notes)
    while shown.count < 2 { await Task.yield() }
    telling.cancel()
    #expect(shown == [Self.notes, Self.notes])
  }

  static func saving(_ note: Note) async throws -> [Note] {
    let controller = NotesController()
    try await controller.save(note)
    return controller.notes
  }

  // In a process of its own, since the environment belongs to all tests of this one.
  @Test func `a controller, in the place that the page names`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      setenv("XDG_DATA_HOME", directory.path, 1)
      let saved = try await Self.saving(Note(id: "1", text: "one"))
      #expect(saved == [Note(id: "1", text: "one")])
      let file =
        directory.path + "/" + ProcessInfo.processInfo.processName + "/Notes/data.sqlite3"
      #expect(FileManager.default.fileExists(atPath: file))
    }
  }

  private func sharing() -> SQLiteStorageEngine {
    // BEGIN sharing
    let engine = SQLiteStorageEngine(
      directory: .sharedContainer(
        forAppGroupIdentifier: "org.example.notes", appendingPath: "Notes"))
    // END sharing
    return engine
  }

  private func engines(_ db: BoutiqueDB) -> [any StorageEngine] {
    var all: [any StorageEngine] = []
    func add(_ engine: any StorageEngine) { all.append(engine) }
    add(SQLiteStorageEngine.default(appendingPath: "Notes"))
    add(
      SQLiteStorageEngine(directory: .caches(appendingPath: "Small"), databaseFilename: "images")
    )
    add(SQLiteStorageEngine(database: db, tableName: "notes"))
    add(DiskStorageEngine(directory: .documents(appendingPath: "Drawings")))
    add(MemoryStorageEngine())
    return all
  }

  @Test func `engines are made without touching the disk`() async throws {
    try await withTestDatabase { db, _ in
      #expect(engines(db).count == 5)
      _ = sharing()
    }
  }

  @Test func `an engine without a store`() async throws {
    let directory = try TestDirectory()
    for engine: any StorageEngine in [
      SQLiteStorageEngine(directory: .init(url: directory.url("a"))),
      DiskStorageEngine(directory: .init(url: directory.url("b"))), MemoryStorageEngine(),
    ] {
      let (data, note) = (Data("data".utf8), Self.note)
      // BEGIN using an engine
      try await engine.write(data, key: "drawing 1/2")
      try await engine.write([(key: "a", data: data), (key: "b", data: data)])
      let found = try await engine.read(keys: ["a", "c"])  // those that are there, in this order
      let all = try await engine.readAllDataAndKeys()  // in the order of their first writing
      let created = try await engine.createdAt(key: "a")
      try await engine.apply([.remove("a"), .write("c", data)])  // all or nothing
      try await engine.removeAllData()  // the file becomes small again

      let storage = ObjectStorage<Note>(storage: engine)  // the same with types
      try await storage.store(note, forKey: "note")
      let same = try await storage.object(forKey: "note")
      // END using an engine
      #expect(found == [data] && all.map(\.key) == ["drawing 1/2", "a", "b"] && created != nil)
      #expect(same == note)
    }
  }

  // BEGIN own engine
  actor DictionaryEngine: StorageEngine {
    private var contents: [CacheKey: Data] = [:]

    func write(_ data: Data, key: CacheKey) { contents[key] = data }
    func read(key: CacheKey) -> Data? { contents[key] }
    func remove(key: CacheKey) { contents[key] = nil }
    func allKeys() -> [CacheKey] { contents.keys.sorted { $0.rawValue < $1.rawValue } }
    func createdAt(key: CacheKey) -> Date? { nil }
    func updatedAt(key: CacheKey) -> Date? { nil }
  }
  // END own engine

  @Test func `an engine of the program's own`() async throws {
    let engine = DictionaryEngine()
    #expect(try await calls(engine, Self.note, Self.notes).items == Self.notes)
    let second = try await Store<Note>(storage: engine)
    #expect(second.items == Self.notes)
  }

  @Test func `the page's code is the one above and that of the example`() throws {
    let page = try DocumentedText.blocks(of: "docs/boutique.md")
    var tested = try DocumentedText.regions(of: #filePath)
    // Lines of which each is checked by itself: as they stand they would make warnings.
    let lineByLine = ["loading", "engines"]
    let source = DocumentedText.lines(try String(contentsOfFile: #filePath, encoding: .utf8))
      .joined(separator: "\n")
    for name in lineByLine {
      for line in DocumentedText.lines(page.named[name] ?? "none") {
        #expect(source.contains(line), "\(name): \(line)")
      }
      tested[name] = page.named[name]
    }
    #expect(Set(page.named.keys) == Set(tested.keys))
    for (name, code) in tested {
      #expect(
        DocumentedText.lines(page.named[name] ?? "") == DocumentedText.lines(code), "\(name)")
    }
    let text = try String(
      contentsOf: DocumentedText.root.appending(path: "docs/boutique.md"), encoding: .utf8)
    let parts = text.components(separatedBy: "<!-- part of ").dropFirst()
    #expect(parts.count == page.nameless.count && !parts.isEmpty)
    for part in parts {
      let file = part.components(separatedBy: " -->")[0]
      let code = part.components(separatedBy: "```")[1].dropFirst("swift\n".count)
      let source = try String(
        contentsOf: DocumentedText.root.appending(path: file), encoding: .utf8)
      let wanted = DocumentedText.lines(String(code)).joined(separator: "\n")
      #expect(DocumentedText.lines(source).joined(separator: "\n").contains(wanted), "\(file)")
    }
  }
}
