import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Runs `body` and returns the error of the database that it threw.
func databaseError<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Blackbird.Database.Error? {
  do {
    _ = try await body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    return nil
  } catch let error as Blackbird.Database.Error {
    return error
  }
}

@Suite struct DatabaseOpeningTests {
  let directory: TestDirectory
  var path: String { directory.file("app.db") }

  init() throws { directory = try TestDirectory() }

  @Test func `a second instance on the path is refused until the first is closed`() async throws {
    let first = try Blackbird.Database(path: path)
    try await first.execute("CREATE TABLE t (a)")
    #expect(throws: Blackbird.Database.Error.self) { try Blackbird.Database(path: path) }
    let error = try await databaseError { try Blackbird.Database(path: path) }
    guard case .anotherInstanceExistsWithPath(let refused) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refused == path)
    await first.close()
    let second = try await Blackbird.Database.open(path: path)
    #expect(try await second.query("SELECT * FROM t").isEmpty)
    await second.close()
  }

  @Test func `another name of the same file is refused as well`() async throws {
    let first = try await Blackbird.Database.open(path: path)
    let link = directory.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    for name in [link, directory.path + "/./app.db", directory.path + "//app.db"] {
      let error = try await databaseError { try Blackbird.Database(path: name) }
      guard case .anotherInstanceExistsWithPath = error else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
    }
    await first.close()
  }

  @Test func `an instance that is let go makes room`() async throws {
    do {
      let first = try await Blackbird.Database.open(path: path)
      try await first.execute("CREATE TABLE t (a)")
    }
    // The thread that ran the last statement may hold the instance for a moment more.
    let clock = ContinuousClock()
    let bound = clock.now + .seconds(20)
    var second: Blackbird.Database?
    while second == nil, clock.now < bound {
      second = try? Blackbird.Database(path: path)
      if second == nil { try await Task.sleep(for: .milliseconds(1)) }
    }
    let rows = try await second?.query("SELECT * FROM t")
    #expect(rows == [])
    await second?.close()
  }

  @Test func `any number of databases in memory are apart from each other`() async throws {
    let databases = try (0..<5).map { _ in try Blackbird.Database.inMemoryDatabase() }
    for (number, database) in databases.enumerated() {
      try await database.execute("CREATE TABLE t (n); INSERT INTO t VALUES (\(number))")
    }
    for (number, database) in databases.enumerated() {
      let rows = try await database.query("SELECT n FROM t")
      #expect(rows == [["n": .integer(Int64(number))]])
      #expect(database.path == nil)
      await database.close()
    }
    #expect(Set(databases).count == 5)
  }

  @Test func `what can be seen from outside is an error at once`() throws {
    func underlying(_ path: String, _ options: Blackbird.Database.Options = []) -> BoutiqueError? {
      do {
        _ = try Blackbird.Database(path: path, options: options)
      } catch Blackbird.Database.Error.cannotOpenDatabaseAtPath(_, let error) {
        return error.underlying
      } catch {
        Issue.record("\(error)")
      }
      return nil
    }
    guard case .directoryMissing = underlying(directory.file("none/app.db")) else {
      Issue.record("a missing directory")
      return
    }
    guard case .invalidPath = underlying(directory.path) else {
      Issue.record("a directory in place of a file")
      return
    }
    guard case .fileMissing = underlying(path, .readOnly) else {
      Issue.record("a missing file, read-only")
      return
    }
    guard case .fileMissing = underlying(path, .requireExistingFile) else {
      Issue.record("a missing file that must exist")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `what only opening shows is thrown by the first call, and makes room`() async throws {
    try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: path))
    let database = try Blackbird.Database(path: path)
    for _ in 0..<2 {
      let error = try await databaseError { try await database.query("SELECT 1") }
      guard case .cannotOpenDatabaseAtPath(let named, let details) = error,
        case .notADatabase = details.underlying
      else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(named == path)
      #expect(details.code == 26)
    }
    try FileManager.default.removeItem(atPath: path)
    let second = try await Blackbird.Database.open(path: path)
    await second.close()
    await database.close()
  }

  @Test func `a configuration that cannot be used is an unsupported one`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.readerCount = 0
    let chosen = configuration
    let error = try await databaseError {
      try await Blackbird.Database.open(path: path, configuration: chosen)
    }
    guard case .unsupportedConfigurationAtPath = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a read-only database reads and refuses to write`() async throws {
    let writer = try await Blackbird.Database.open(path: path)
    try await writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    await writer.close()
    let reader = try await Blackbird.Database.open(path: path, options: .readOnly)
    #expect(try await reader.query("SELECT a FROM t") == [["a": 7]])
    let error = try await databaseError { try await reader.execute("DELETE FROM t") }
    guard case .queryExecutionError(_, let details) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(details.code == 8)
    await reader.close()
  }

  @Test func `after close every call throws that it is closed`() async throws {
    let database = try await Blackbird.Database.open(path: path)
    #expect(!database.isClosed)
    await database.close()
    #expect(database.isClosed)
    await database.close()
    for call in [
      { @Sendable in _ = try await database.query("SELECT 1") },
      { @Sendable in try await database.execute("CREATE TABLE t (a)") },
      { @Sendable in try await database.transaction { _ in } },
      { @Sendable in try await database.backup(to: "/nowhere") },
    ] {
      let error = try await databaseError(call)
      guard case .databaseIsClosed = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test func `the files of a database can be told and deleted, but not while it is open`()
    async throws
  {
    let database = try await Blackbird.Database.open(path: path)
    try await database.execute("CREATE TABLE t (a)")
    #expect(throws: Blackbird.Database.Error.self) { try Blackbird.Database.delete(atPath: path) }
    await database.close()
    try Blackbird.Database.delete(atPath: path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    #expect(Blackbird.Database.allFilePaths(for: path).contains(path + "-wal"))
  }

  @Test func `a backup is a database of its own and replaces nothing unasked`() async throws {
    let database = try await Blackbird.Database.open(path: path)
    try await database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let copy = directory.file("copy.db")
    try await database.backup(to: copy)
    let error = try await databaseError { try await database.backup(to: copy) }
    guard case .backupError = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    await database.close()
    let other = try await Blackbird.Database.open(path: copy)
    #expect(try await other.query("SELECT a FROM t") == [["a": 1]])
    await other.close()
  }
}
