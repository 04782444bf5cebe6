import BoutiqueDB
import Foundation
import TestDatabase
import Testing

@Suite struct MaintenanceTests {
  static let plan = TransactionTests.plan

  @Test func `a backup is a whole database of its own`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      try await db.backup(to: directory.url("copy.db"))
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (2, 'b')") }
      await #expect(throws: BoutiqueError.self) {
        try await db.backup(to: directory.url("copy.db"))
      }
      let copy = try await BoutiqueDB.open(path: directory.file("copy.db"), migrations: Self.plan)
      #expect(try await copy.count(of: "SELECT * FROM t") == 1)
      await copy.close()
      try await db.backup(to: directory.url("copy.db"), overwrite: true)
      let again = try await BoutiqueDB.open(path: directory.file("copy.db"), migrations: Self.plan)
      #expect(try await again.count(of: "SELECT * FROM t") == 2)
      await again.close()
    }
  }

  @Test(arguments: ["", "-wal", "-shm", "-lock"])
  func `a backup never replaces a file of the database`(suffix: String) async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      let link = directory.file("link")
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: db.path + suffix)
      for destination in [db.path + suffix, link] {
        await #expect {
          try await db.backup(to: URL(filePath: destination), overwrite: true)
        } throws: {
          if case BoutiqueError.invalidPath = $0 { true } else { false }
        }
      }
      #expect(try await db.count(of: "SELECT * FROM t") == 1)
    }
  }

  @Test func `a backup that cannot be made names its destination`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, directory in
      await #expect {
        try await db.backup(to: directory.url("missing/copy.db"))
      } throws: {
        if case BoutiqueError.directoryMissing(let path) = $0 {
          path == directory.file("missing")
        } else {
          false
        }
      }
    }
  }

  @Test func `the log is kept within its bound as writes go on`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.writeAheadLogBound = 1 << 20
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      for _ in 0..<300 {
        try await db.write { conn in
          _ = try conn.execute("INSERT INTO t (v) VALUES (hex(randomblob(20000)))")
        }
      }
      let status = try await db.status()
      // 300 transactions of some 40 kB are 12 MB; the bound and what one interval may add remain.
      #expect(status.writeAheadLogBytes < 8 << 20)
      #expect(status.checkpointError == nil)
      #expect(status.databaseBytes > 8 << 20)
    }
  }

  @Test func `the log is bounded although readers overlap all the time`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.writeAheadLogBound = 1 << 20
    configuration.functions = [
      BoutiqueFunction("pause", argumentCount: 0, isDeterministic: false) { _ in
        usleep(10_000)
        return .null
      }
    ]
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let readers = (0..<6).map { _ in
        Task {
          while !Task.isCancelled {
            _ = try await db.read { try $0.query("SELECT count(*), pause() FROM t WHERE id < 9") }
          }
        }
      }
      var largest: Int64 = 0
      for _ in 0..<120 {
        try await db.write { conn in
          for _ in 0..<10 {
            _ = try conn.execute("INSERT INTO t (v) VALUES (hex(randomblob(20000)))")
          }
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: db.path + "-wal")
        largest = max(largest, attributes[.size] as? Int64 ?? 0)
      }
      for reader in readers { reader.cancel() }
      for reader in readers { _ = await reader.result }
      // 48 MB were written. Without the patience of a log that is much too large it would hold them all; the
      // greatest patience begins at sixteen times the bound, and what is written between two tries comes on top.
      #expect(largest < 28 << 20)
    }
  }

  @Test func `checkpoint, vacuum and integrity check do what they say`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await db.write { conn in
        for _ in 0..<50 { _ = try conn.execute("INSERT INTO t (v) VALUES (hex(randomblob(5000)))") }
      }
      let result = try await db.checkpoint(.truncate)
      #expect(!result.isBusy)
      #expect(try await db.status().writeAheadLogBytes == 0)
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 50)
      try await db.write { _ = try $0.execute("DELETE FROM t WHERE id > 1") }
      #expect(try await values.next() == 1)
      try await db.vacuum()
      _ = try await db.checkpoint(.truncate)
      #expect(try await db.status().databaseBytes < 200_000)
      #expect(try await db.integrityCheck() == [])
      #expect(try await db.count(of: "SELECT * FROM t") == 1)
    }
  }

  @Test func `erase leaves a fresh database, and tokens go on`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await db.write { conn in
        _ = try conn.execute("INSERT INTO t VALUES (1, 'a')")
        try conn.executeScript(
          """
          CREATE TABLE extra (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t (id));
          INSERT INTO extra VALUES (1, 1);
          CREATE VIEW seen AS SELECT * FROM extra;
          CREATE VIRTUAL TABLE note USING fts5 (body);
          CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM extra; END;
          """)
      }
      let token = try await db.currentToken()
      var values = db.observe(ObservationTests.count).makeAsyncIterator()
      #expect(try await values.next() == 1)
      try await db.erase()
      #expect(try await values.next() == 0)
      let names = try await db.read { conn in
        try conn.query(
          "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'trigger') "
            + "AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'boutiquedb%' AND name <> 'turso_cdc'"
        ).map { try $0.decode(0, as: String.self) }
      }
      #expect(names == ["t"])
      let now = try await db.currentToken()
      #expect(now.generation == token.generation && now.number > token.number)
      #expect(try await db.status().migrations == ["v1"])
    }
  }

  @Test func `status tells who has the database open`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.label = "the test"
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let status = try await db.status()
      #expect(status.members.map(\.label) == ["the test"])
      #expect(status.members.map(\.pid) == [getpid()])
      #expect(status.journalMode == "wal")
      #expect(status.holder == nil && status.waiters.isEmpty)
      #expect(status.coordinationProblem == nil)
      #expect(status.bell == "not observing")
      // It can be shown by tools.
      let json = try JSONEncoder().encode(status)
      #expect(try JSONDecoder().decode(DatabaseStatus.self, from: json).path == db.path)
    }
  }
}
