import BoutiqueDB
import Foundation
import Glibc
import TestDatabase
import Testing

/// Reading without opening, on the calling thread.
@Suite(.timeLimit(.minutes(1)))
struct ReadOnceTests {
  private static let names = "SELECT name FROM note ORDER BY name"

  private func read(_ path: String, _ sql: String = names) throws -> [String]? {
    try BoutiqueDB.readOnce(path: path) { connection in
      try connection.query(sql).map { try $0.decode(0, as: String.self) }
    }
  }

  private func make(_ path: String) async throws -> BoutiqueDB {
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { connection in
      try connection.execute("CREATE TABLE note (name TEXT)")
      try connection.execute("INSERT INTO note VALUES ('one')")
    }
    return db
  }

  private func shell(_ path: String, _ sql: String) throws {
    let shell = try Process.run(
      URL(filePath: "/usr/bin/env"), arguments: ["sqlite3", path, sql])
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
  }

  @Test func `a file that is not there gives nil and is not made`() throws {
    let directory = try TestDirectory()
    #expect(try read(directory.file("none.db")) == nil)
    #expect(try read(directory.file("none/none.db")) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test func `a closed database is read and nothing is left beside it`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    await (try make(path)).close()
    let before = Set(try FileManager.default.contentsOfDirectory(atPath: directory.path))
    #expect(!before.contains("a.db-wal"))
    #expect(try readInSync(path) == ["one"])
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) == before)
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }

  @Test func `a database that this process writes to is read and keeps its locks`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    let db = try await make(path)
    let seen = try await db.write { connection -> ([String]?, [String], [String]) in
      try connection.execute("INSERT INTO note VALUES ('two')")
      let before = try Self.locks(of: path)
      let names = try BoutiqueDB.readOnce(path: path) { connection in
        try connection.query(Self.names).map { try $0.decode(0, as: String.self) }
      }
      return (names, before, try Self.locks(of: path))
    }
    #expect(seen.0 == ["one"], "what is not committed is not seen")
    #expect(!seen.1.isEmpty)
    #expect(seen.1 == seen.2)
    #expect(try readInSync(path) == ["one", "two"])
    await db.close()
    #expect(try readInSync(path) == ["one", "two"])
  }

  /// What the kernel says of this process's locks on the files, in an order of its own.
  private static func locks(of path: String) throws -> [String] {
    let inodes = [path, path + "-shm"].map { path -> String in
      var facts = stat()
      return stat(path, &facts) == 0 ? ":\(facts.st_ino) " : ":none "
    }
    // To its end: `String(contentsOfFile:)` stops after the first 4 KiB of a file of /proc.
    let handle = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
    let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").map { line in
      line.split(separator: " ").dropFirst().joined(separator: " ")
    }.filter { line in
      line.contains(" \(getpid()) ") && inodes.contains { line.contains($0) }
    }.sorted()
  }

  @Test func `a log that a crash has left is read, with its index or without`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    let db = try await make(path)
    try FileManager.default.createDirectory(
      atPath: directory.file("copy"), withIntermediateDirectories: false)
    // Another process copies: this one must not open these files.
    let copy = try Process.run(
      URL(filePath: "/bin/cp"), arguments: [path, path + "-wal", directory.file("copy")])
    copy.waitUntilExit()
    await db.close()
    #expect(try readInSync(directory.file("copy/a.db")) == ["one"])
  }

  @Test func `a change under its eyes makes it read again`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    await (try make(path)).close()
    let (names, calls) = try readBeside(path) {
      try self.shell(path, "INSERT INTO note VALUES ('two')")
    }
    #expect(names == ["one", "two"])
    #expect(calls == 2)
  }

  private func readBeside(
    _ path: String, _ change: () throws -> Void
  ) throws -> ([String]?, Int) {
    var calls = 0
    let names = try BoutiqueDB.readOnce(path: path) { connection in
      calls += 1
      let names = try connection.query(Self.names).map { try $0.decode(0, as: String.self) }
      if calls == 1 { try change() }
      return names
    }
    return (names, calls)
  }

  private func readInSync(_ path: String) throws -> [String]? { try read(path) }

  @Test func `it writes nothing and tells what is no database`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    await (try make(path)).close()
    #expect(throws: BoutiqueError.self) { try read(path, "DELETE FROM note RETURNING name") }
    #expect(throws: BoutiqueError.self) { try read(path, "SELECT nothing FROM note") }
    #expect(try readInSync(path) == ["one"])
    try String(repeating: "no database at all ", count: 100).write(
      toFile: directory.file("b.db"), atomically: true, encoding: .utf8)
    let found = #expect(throws: BoutiqueError.self) { try read(directory.file("b.db")) }
    guard case .notADatabase? = found else { throw try #require(found) }
  }

  @Test func `a rollback journal database of another program is read`() throws {
    let directory = try TestDirectory()
    let path = directory.file("a.db")
    try shell(path, "CREATE TABLE note (name TEXT); INSERT INTO note VALUES ('theirs')")
    #expect(try read(path) == ["theirs"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.db"])
  }
}
