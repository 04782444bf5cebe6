import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What is special to data in files.
@Suite(.timeLimit(.minutes(2))) struct EngineDiskTests {
  private func engine(_ directory: TestDirectory, _ name: String = "place") -> DiskStorageEngine {
    DiskStorageEngine(directory: .init(url: directory.url(name)))
  }

  private func data(_ text: String) -> Data { Data(text.utf8) }

  @Test func `a file is named after its key, and holds it and the data`() async throws {
    let directory = try TestDirectory()
    try await engine(directory).write(data("the data\n"), key: "notes/1.txt")
    let text = try String(contentsOfFile: directory.file("place/notes%2f1.txt"), encoding: .utf8)
    let lines = text.components(separatedBy: "\n")
    #expect(lines[0].hasPrefix("boutique 1 1 ") && lines[0].hasSuffix(" 11"))
    #expect(lines.dropFirst() == ["notes/1.txt", "the data", ""])
    let attributes = try FileManager.default.attributesOfItem(
      atPath: directory.file("place/notes%2f1.txt"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test(arguments: [
    "", "no header", "boutique 1 x y z 1\na\n", "boutique 1 1 0 0 900\na\ndata",
    "boutique 1 1 0 0 1\nb\ndata",
  ])
  func `a file that is none of the engine's is an error, not nothing`(content: String) async throws
  {
    let directory = try TestDirectory()
    let engine = engine(directory)
    try await engine.write(data("1"), key: "1")
    try content.write(toFile: directory.file("place/a"), atomically: true, encoding: .utf8)
    await #expect(throws: StoreError.self) { _ = try await engine.readAllDataAndKeys() }
    await #expect(throws: StoreError.self) { _ = try await engine.read(key: "a") }
    await #expect(throws: StoreError.self) { _ = try await engine.allKeys() }
    #expect(try await engine.read(key: "1") == data("1"))
    await #expect(throws: StoreError.self) {
      _ = try await Store<Thing>(storage: engine, cacheIdentifier: \.number)
    }
  }

  @Test func `a link and a directory in the place of a file are not followed`() async throws {
    let directory = try TestDirectory()
    let engine = engine(directory)
    try await engine.write(data("1"), key: "1")
    try "secret".write(toFile: directory.file("secret"), atomically: true, encoding: .utf8)
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: directory.file("place/a"), withDestinationPath: directory.file("secret"))
    await #expect(throws: BoutiqueError.self) { _ = try await engine.read(key: "a") }
    try files.createDirectory(
      atPath: directory.file("place/b"), withIntermediateDirectories: false)
    await #expect(throws: StoreError.self) { _ = try await engine.read(key: "b") }
  }

  @Test func `when the lock file is lost, order goes on behind what is there`() async throws {
    let directory = try TestDirectory()
    let first = engine(directory)
    try await first.write([("b", data("1")), ("a", data("2"))])
    let store = try await Store<Thing>(
      storage: engine(directory, "store"), cacheIdentifier: \.number)
    try await store.insert([.belt, .coat])
    for name in ["place", "store"] {
      try FileManager.default.removeItem(atPath: directory.file(name + "/.lock"))
    }
    try await first.write(data("3"), key: "0")
    #expect(try await first.allKeys() == ["b", "a", "0"])
    try await store.insert(.sweater)
    #expect(await store.items == [.belt, .coat, .sweater])
    try await engine(directory, "store").remove(key: "1")
    try await waitUntil("the coat's end") { store.items == [.belt, .sweater] }
  }

  @Test func `a directory that vanished is made again, and the store follows`() async throws {
    let directory = try TestDirectory()
    let store = try await Store<Thing>(storage: engine(directory), cacheIdentifier: \.number)
    try await store.insert(Thing.all)
    try FileManager.default.removeItem(atPath: directory.file("place"))
    try await waitUntil("nothing") { store.items.isEmpty }
    try await store.insert(.belt)
    #expect(await store.items == [.belt])
  }
}
