import BoutiqueDB
import Foundation
import Glibc
import TestDatabase
import Testing

/// One database under several names, and names that are seldom used.
@Suite struct PathTests {
  enum Way: String, CaseIterable, Sendable {
    case same
    case linkToTheFile
    case linkToTheDirectory
    case relative
    case dots

    /// The path that leads to `file` this way; `directory` is the test's own.
    func path(to file: String, in directory: String) throws -> String {
      let name = URL(filePath: file).lastPathComponent
      switch self {
      case .same:
        return file
      case .linkToTheFile:
        let link = directory + "/link.db"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        return link
      case .linkToTheDirectory:
        let link = directory + "/link"
        try FileManager.default.createSymbolicLink(
          atPath: link, withDestinationPath: URL(filePath: file).deletingLastPathComponent().path)
        return link + "/" + name
      case .relative:
        // As many steps up as lead to the root, wherever the tests run.
        let here = FileManager.default.currentDirectoryPath
        return String(repeating: "../", count: here.split(separator: "/").count)
          + file.dropFirst()
      case .dots:
        return URL(filePath: file).deletingLastPathComponent().path + "/./../"
          + URL(filePath: file).deletingLastPathComponent().lastPathComponent + "//" + name
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `opened twice in one process it is one database`(way: Way) async throws {
    let directory = try TestDirectory()
    let inner = directory.file("inner")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    let file = inner + "/app.db"
    try await expectOneDatabase(file, try { try way.path(to: file, in: directory.path) }())
    #expect(try FileManager.default.contentsOfDirectory(atPath: inner).sorted().first == "app.db")
    #expect(!FileManager.default.fileExists(atPath: directory.file("link.db-lock")))
  }

  @Test(
    arguments: [
      "with space.db", "quote's.db", "double\"quote.db", "new\nline.db", "tab\t.db", "ünïcödé ☃.db",
      "-dash.db", "file:x.db", "question?mode=ro.db", "hash#mark.db", "per%20cent.db",
      "back\\slash.db",
      "semi;colon.db", "*.db", "$HOME.db", ".hidden", "no ending", "~",
    ])
  func `a name is taken as it is`(name: String) async throws {
    let directory = try TestDirectory()
    let file = directory.file(name)
    try await expectOneDatabase(file, file)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(
      Set(names).isSubset(of: [name, name + "-lock", name + "-wal", name + "-shm"]), "\(names)")
    // By its URL it is the same one.
    let db = try await BoutiqueDB.open(url: directory.url(name))
    let rows = try await db.count(of: "SELECT * FROM note")
    #expect(rows == 2)
    await db.close()
  }

  /// Two handles write and hear of each other; closing one takes nothing from the other.
  private func expectOneDatabase(_ first: String, _ path: @autoclosure () throws -> String)
    async throws
  {
    let one = try await BoutiqueDB.open(path: first)
    try await one.write { try $0.execute("CREATE TABLE note (body TEXT)") }
    let two = try await BoutiqueDB.open(path: path())
    #expect(one.path == two.path)
    var counts = two.observe { try $0.query("SELECT * FROM note").count }.makeAsyncIterator()
    let empty = try await counts.next()
    #expect(empty == 0)
    try await one.write { try $0.execute("INSERT INTO note VALUES ('one')") }
    let afterOne = try await counts.next()
    #expect(afterOne == 1)
    try await two.write { try $0.execute("INSERT INTO note VALUES ('two')") }
    await two.close()
    let rows = try await one.count(of: "SELECT * FROM note")
    #expect(rows == 2)
    let members = try await one.status().members
    #expect(members.count == 1)
    await one.close()
  }

  /// Neither a relative path nor a link gets round it, since the real path is what all agree on.
  @Test func `a directory that is not UTF-8 is a typed error, and nothing is made`() async throws {
    let directory = try TestDirectory()
    let bytes = Array(directory.path.utf8CString.dropLast()) + [47, 100, -1, 0]
    try #require(mkdir(bytes, 0o700) == 0)
    let link = directory.file("link")
    try #require(symlink(bytes, link.utf8CString.map { $0 }) == 0)
    let error = await #expect(throws: BoutiqueError.self) {
      _ = try await BoutiqueDB.open(path: link + "/app.db")
    }
    guard case .invalidPath(_, let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.contains("UTF-8"))
    var facts = stat()
    #expect(stat(bytes.dropLast() + Array("/app.db".utf8CString), &facts) != 0)
    let url = try #require(URL(string: "file://\(directory.path)/d%FF/app.db"))
    let second = await #expect(throws: BoutiqueError.self) {
      _ = try await BoutiqueDB.open(url: url)
    }
    guard case .invalidPath = second else {
      Issue.record("\(String(describing: second))")
      return
    }
    #expect(stat(bytes.dropLast() + Array("/app.db".utf8CString), &facts) != 0)
  }
}
