import BoutiqueDB
import TestDatabase
import Testing

/// Tables of whose changes only is told that there were some.
@Suite struct CaptureOffTests {
  private static var configuration: BoutiqueConfiguration {
    var configuration = ObservationTests.hourPoll
    configuration.captureModes = ["t": .off]
    return configuration
  }

  private static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") {
      try $0.executeScript(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, v);
        CREATE TABLE other (id INTEGER PRIMARY KEY, v);
        """)
    }
  }

  @Test func `a commit tells that the table changed, and rows of the others`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      #expect(try await db.captureModes() == ["t": .off])
      for sql in [
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')", "UPDATE t SET v = 'c' WHERE id = 1",
        "DELETE FROM t WHERE id = 2", "DELETE FROM t",
      ] {
        let change = try await db.captured(sql)
        #expect(change.wholeTables == ["t"] && change.rows.isEmpty && !change.isEverything)
      }
      let change = try await db.captured { connection in
        try connection.execute("INSERT INTO other VALUES (1, 'a')")
        try connection.execute("INSERT INTO t VALUES (1, 'a')")
        try connection.execute("INSERT INTO other VALUES (2, 'b')")
      }
      #expect(change.wholeTables == ["t"])
      #expect(change.rows.map(\.table) == ["other", "other"])
      #expect(change.rows.map(\.key) == [[1], [2]])
    }
  }

  @Test func `what changes no row, or is undone, tells nothing of the table`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      let change = try await db.captured { connection in
        struct Undo: Error {}
        try connection.execute("UPDATE t SET v = 1")
        try? connection.savepoint {
          try connection.execute("INSERT INTO t VALUES (1, 'a')")
          throw Undo()
        }
        #expect(throws: BoutiqueError.self) {
          try connection.execute("INSERT INTO t VALUES (2, 'a'), (2, 'b')")
        }
        try connection.execute("INSERT INTO other VALUES (1, 'a')")
      }
      #expect(change.wholeTables.isEmpty)
      #expect(change.rows.map(\.table) == ["other"])
      // The same table, undone and then changed after all.
      let next = try await db.captured { connection in
        struct Undo: Error {}
        try? connection.savepoint {
          try connection.execute("INSERT INTO t VALUES (1, 'a')")
          throw Undo()
        }
        try connection.execute("INSERT INTO t VALUES (3, 'a')")
      }
      #expect(next.wholeTables == ["t"])
    }
  }

  @Test func `live queries on it run again, those on a single row too`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path)
      var count = db.observe(ObservationTests.count).makeAsyncIterator()
      var single = other.observe { connection in
        try connection.queryOne("SELECT v FROM t WHERE id = ?", 1)?.values.first
      }.makeAsyncIterator()
      #expect(try await count.next() == 0)
      #expect(try await single.next() == .some(nil))
      // The other process goes by the mode that the database says.
      try await other.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      #expect(try await count.next() == 1)
      #expect(try await single.next() == .text("a"))
      let change = try await other.captured("INSERT INTO t VALUES (2, 'b')")
      #expect(change.wholeTables == ["t"] && change.rows.isEmpty)
      #expect(try await count.next() == 2)
      await other.close()
    }
  }

  @Test func `switched on again, rows are told from the next commit on`() async throws {
    try await withTestDatabase(configuration: Self.configuration, migrations: Self.plan) { db, _ in
      #expect(try await db.captured("INSERT INTO t VALUES (1, 'a')").wholeTables == ["t"])
      try await db.setCaptureMode(.id, forTable: "t")
      #expect(try await db.captured("INSERT INTO t VALUES (2, 'b')").rows.map(\.key) == [[2]])
      try await db.setCaptureMode(.off, forTable: "T")
      #expect(try await db.captured("INSERT INTO t VALUES (3, 'c')").wholeTables == ["t"])
    }
  }

  @Test func `changes of the schema keep being told`() async throws {
    var configuration = Self.configuration
    configuration.captureModes["sqlite_schema"] = .off
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let change = try await db.captured("ALTER TABLE t ADD COLUMN w")
      #expect(Set(change.wholeTables) == ["t", "sqlite_schema"])
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a foreign commit to it reaches feeds, consumers and live queries`() async throws {
    var configuration = Self.configuration
    configuration.foreignCapture = .precise
    configuration.writeLockTimeout = .seconds(600)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      var single = db.observe { connection in
        try connection.queryOne("SELECT v FROM t WHERE id BETWEEN 1 AND 3")?.values.first
      }.makeAsyncIterator()
      #expect(try await single.next() == .some(nil))
      let start = try await db.currentToken()
      try FeedSupport.foreign(
        db.path, "INSERT INTO t VALUES (1, 'a')", "INSERT INTO other VALUES (1, 'a')")
      #expect(try await single.next() == .text("a"))
      try await db.write { _ = try $0.execute("UPDATE t SET v = 'b'") }
      #expect(try await single.next() == .text("b"))
      var tables: Set<String> = []
      var rowTables: Set<String> = []
      for try await change in db.changes(since: start, consumer: "c", following: false) {
        let change = change.change
        tables.formUnion(change.wholeTables)
        rowTables.formUnion(change.rows.map(\.table))
      }
      #expect(tables == ["t"] && rowTables == ["other"])
      // Without a row of which anybody hears.
      try FeedSupport.foreign(db.path, "DELETE FROM t")
      #expect(try await single.next() == .some(nil))
      try await db.write { connection in
        try connection.execute("INSERT INTO t VALUES (2, 'x')")
        try connection.execute("INSERT OR REPLACE INTO t VALUES (2, 'y')")
      }
      #expect(try await single.next() == .text("y"))
    }
  }
}
