import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

/// Opening, closing, letting go.
@Suite struct LifeTests {
  static let plan = TransactionTests.plan

  @Test func `locations follow the XDG directories and are made when missing`() throws {
    let directory = try TestDirectory()
    setenv("XDG_DATA_HOME", directory.file("data"), 1)
    defer { unsetenv("XDG_DATA_HOME") }
    let own = try BoutiqueDB.applicationSupportURL(filename: "a.db")
    let program = ProcessInfo.processInfo.processName
    #expect(own.path == directory.file("data/\(program)/a.db"))
    let shared = try BoutiqueDB.sharedURL(group: "org.example", filename: "b.db")
    #expect(shared.path == directory.file("data/org.example/b.db"))
    let attributes = try FileManager.default.attributesOfItem(
      atPath: directory.file("data/org.example"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    for name in ["", "a/b", ".."] {
      #expect(throws: BoutiqueError.self) { try BoutiqueDB.applicationSupportURL(filename: name) }
      #expect(throws: BoutiqueError.self) { try BoutiqueDB.sharedURL(group: name) }
    }
    #expect(BoutiqueDB.inMemoryURL() != BoutiqueDB.inMemoryURL())
  }

  @Test(
    arguments: [
      { $0.readerCount = 0 }, { $0.cdcPollInterval = .zero },
      { $0.writeLockTimeout = .seconds(-1) },
      { $0.cdcRetention = .init(rows: 0, age: .zero) }, { $0.captureRowLimit = -1 },
    ] as [@Sendable (inout BoutiqueConfiguration) -> Void])
  func `a configuration that cannot work is refused`(
    change: @Sendable (inout BoutiqueConfiguration) -> Void
  ) async throws {
    let directory = try TestDirectory()
    var configuration = BoutiqueConfiguration()
    change(&configuration)
    await #expect {
      _ = try await BoutiqueDB.open(path: directory.file("x.db"), configuration: configuration)
    } throws: {
      if case BoutiqueError.invalidConfiguration = $0 { true } else { false }
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("x.db")))
  }

  @Test func `files get the mode that was asked for, whatever the umask`() async throws {
    let directory = try TestDirectory()
    for (permissions, mode) in [
      (BoutiqueConfiguration.FilePermissions.owner, 0o600), (.group, 0o660),
    ] {
      var configuration = BoutiqueConfiguration()
      configuration.filePermissions = permissions
      let path = directory.file("mode-\(mode).db")
      let db = try await BoutiqueDB.open(path: path, configuration: configuration)
      for suffix in ["", "-wal", "-shm", "-lock"] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
        #expect(attributes[.posixPermissions] as? Int == mode, "\(suffix)")
      }
      await db.close()
    }
  }

  @Test func `after close everything says so, and closing again is harmless`() async throws {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("x.db"), migrations: Self.plan)
    var values = db.observe(ObservationTests.count).makeAsyncIterator()
    _ = try await values.next()
    let feed = db.changes()
    let following = Task {
      var iterator = feed.makeAsyncIterator()
      return try await iterator.next()
    }
    await db.close()
    await db.close()
    for result in [
      await outcome { try await db.write { _ in } }, await outcome { try await db.read { _ in } },
      await outcome { _ = try await values.next() },
      await outcome { _ = try await following.value },
      await outcome { _ = try await db.status() },
      await outcome { for try await _ in db.changes() {} },
    ] {
      #expect(result == "closed")
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("x.db-wal")))
  }

  @Test func `a file with two names is refused`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("x.db")
    try await BoutiqueDB.open(path: path).close()
    #expect(link(path, directory.file("y.db")) == 0)
    for name in ["x.db", "y.db"] {
      await #expect {
        try await BoutiqueDB.open(path: directory.file(name)).close()
      } throws: {
        if case BoutiqueError.invalidPath(_, let message) = $0 {
          message.contains("names")
        } else {
          false
        }
      }
    }
  }

  @Test func `a name that is too long is refused before anything is made`() async throws {
    let directory = try TestDirectory()
    for name in [String(repeating: "x", count: 251), String(repeating: "d/", count: 300) + "x"] {
      await #expect {
        try await BoutiqueDB.open(path: directory.file(name)).close()
      } throws: {
        if case BoutiqueError.invalidPath = $0 { true } else { false }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func `a reader outlives the writers that come and go`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("x.db")
    let first = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    var configuration = BoutiqueConfiguration()
    configuration.readOnly = true
    let reader = try await BoutiqueDB.open(path: path, configuration: configuration)
    await first.close()
    // Files that take the inodes of the ones just deleted.
    for number in 0..<8 {
      try Data().write(to: directory.url("f\(number)"))
    }
    let second = try await BoutiqueDB.open(path: path)
    try await second.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    #expect(try await reader.count(of: "SELECT * FROM t") == 1)
    await reader.close()
    await second.close()
  }

  @Test func `a deleted database answers no more`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("x.db")
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    _ = try await db.count(of: "SELECT * FROM t")
    try FileManager.default.removeItem(atPath: path)
    for isRead in [true, false] {
      await #expect {
        if isRead { try await db.read { _ in } } else { try await db.write { _ in } }
      } throws: {
        if case BoutiqueError.fileReplaced = $0 { true } else { false }
      }
    }
    await db.close()
  }

  @Test func `close lets pending writes finish`() async throws {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(path: directory.file("x.db"), migrations: Self.plan)
    let writes = (1...20).map { id in
      Task { try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) } }
    }
    await db.close()
    var written = 0
    for write in writes {
      switch await write.result {
      case .success: written += 1
      case .failure(let error):
        guard case BoutiqueError.closed = error else { throw error }
      }
    }
    let again = try await BoutiqueDB.open(path: directory.file("x.db"))
    #expect(try await again.count(of: "SELECT * FROM t") == written)
    await again.close()
  }

  @Test func `a database that is let go of gives up its files`() async throws {
    let directory = try TestDirectory()
    for _ in 0..<3 {
      let db = try await BoutiqueDB.open(path: directory.file("x.db"), migrations: Self.plan)
      _ = try await db.count(of: "SELECT * FROM t")
    }
    var isFree = false
    for _ in 0..<2000 where !isFree {
      isFree = (try? TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)) != nil
      if !isFree { try await Task.sleep(for: .milliseconds(5)) }
    }
    #expect(isFree)
  }

  @Test func `an observation keeps its database open`() async throws {
    let directory = try TestDirectory()
    var values = try await BoutiqueDB.open(path: directory.file("x.db"), migrations: Self.plan)
      .observe(ObservationTests.count).makeAsyncIterator()
    #expect(try await values.next() == 0)
    let other = try await BoutiqueDB.open(path: directory.file("x.db"))
    try await other.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    #expect(try await values.next() == 1)
    await other.close()
  }

  @Test func `an observer that is let go of is forgotten`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      do {
        var values = db.observe(ObservationTests.count).makeAsyncIterator()
        _ = try await values.next()
        #expect(try await db.status().observers == 1)
      }
      let loop = Task { for try await _ in db.observe(ObservationTests.count) {} }
      loop.cancel()
      _ = await loop.result
      // A read that is just ending may still hold it.
      let clock = ContinuousClock()
      let bound = clock.now + .seconds(30)
      while try await db.status().observers > 0, clock.now < bound {
        try await Task.sleep(for: .milliseconds(2))
      }
      #expect(try await db.status().observers == 0)
      // Nobody listens any more, and a new observer is served again.
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 1)
    }
  }

  @Test func `a live query property that is let go of ends`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await useAndDrop(db)
      var observers = -1
      for _ in 0..<2000 where observers != 0 {
        observers = try await db.status().observers
        if observers != 0 { try await Task.sleep(for: .milliseconds(5)) }
      }
      #expect(observers == 0)
    }
  }

  @MainActor private func useAndDrop(_ db: BoutiqueDB) async throws {
    let model = ObservationTests.Model(db)
    try await model.$rows.refresh()
  }

  @Test func `the same file under two names is one database`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("x.db")
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link.db"), withDestinationPath: path)
    let linked = try await BoutiqueDB.open(path: directory.file("link.db"))
    #expect(linked.path == db.path)
    #expect(!FileManager.default.fileExists(atPath: directory.file("link.db-lock")))
    let members = try await linked.status().members
    #expect(members.count == 2)
    await db.close()
    await linked.close()
  }

  @Test(arguments: [
    "plain.db", "with space.db", "quote'\".db", "line\nfeed.db", "ümläut 🎈.db", "file:x.db",
    "50%.db", "?mode=memory.db",
  ])
  func `any file name will do`(name: String) async throws {
    let directory = try TestDirectory()
    let db = try await BoutiqueDB.open(url: directory.url(name), migrations: Self.plan)
    try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
    #expect(try await db.count(of: "SELECT * FROM t") == 1)
    await db.close()
    #expect(FileManager.default.fileExists(atPath: directory.file(name)))
  }

  private func outcome(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "nothing"
    } catch BoutiqueError.closed {
      return "closed"
    } catch {
      return "\(error)"
    }
  }
}
