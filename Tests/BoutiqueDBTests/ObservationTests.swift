import BoutiqueDB
import Foundation
import Observation
import TestDatabase
import Testing

@Suite struct ObservationTests {
  static let plan = TransactionTests.plan

  /// The bell alone: no poll helps within a test's life.
  static var hourPoll: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.cdcPollInterval = .seconds(3600)
    return configuration
  }

  static func count(_ conn: BoutiqueConnection) throws -> Int {
    try conn.query("SELECT count(*) FROM t")[0].decode(0)
  }

  @Test func `a local write reaches a local observer without a timer`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      for expected in 1...5 {
        try await db.write { _ = try $0.execute("INSERT INTO t (v) VALUES (?)", "v\(expected)") }
        #expect(try await values.next() == expected)
      }
    }
  }

  @Test func `another open database's write arrives by the bell`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Self.plan)
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES ('x')") }
      #expect(try await values.next() == 1)
      await other.close()
    }
  }

  @Test func `without inotify the poll brings it`() async throws {
    var configuration = BoutiqueConfiguration()
    configuration.usesInotify = false
    configuration.cdcPollInterval = .milliseconds(20)
    try await withTestDatabase(configuration: configuration, migrations: Self.plan) { db, _ in
      let other = try await BoutiqueDB.open(path: db.path, migrations: Self.plan)
      var values = db.observe(Self.count).makeAsyncIterator()
      #expect(try await values.next() == 0)
      #expect(try await db.status().bell.hasPrefix("polling only"))
      try await other.write { _ = try $0.execute("INSERT INTO t (v) VALUES ('x')") }
      #expect(try await values.next() == 1)
      await other.close()
    }
  }

  @MainActor @Test func `a live query property follows, and refreshes on demand`() async throws {
    try await withTestDatabase(configuration: Self.hourPoll, migrations: Self.plan) { db, _ in
      let model = Model(db)
      try await model.$rows.refresh()
      #expect(model.rows.isEmpty && model.$rows.isLoaded)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (7, 'x')") }
      try await model.$rows.refresh()
      #expect(model.rows == [7])
      #expect(model.first == 7)
    }
  }

  @MainActor @Observable final class Model {
    @ObservationIgnored @LiveQuery var rows: [Int]
    @ObservationIgnored @LiveQueryOne var first: Int?

    init(_ db: BoutiqueDB) {
      _rows = LiveQuery(db) { try $0.query("SELECT id FROM t").map { try $0.decode(0) } }
      _first = LiveQueryOne(db) { try $0.queryOne("SELECT id FROM t")?.decode(0) }
    }
  }

  @Test func `the feed names tables, rows and origin in commit order`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let start = try await db.currentToken()
      var configuration = BoutiqueConfiguration()
      configuration.label = "other"
      let other = try await BoutiqueDB.open(path: db.path, configuration: configuration)
      try await db.write { _ = try $0.execute("INSERT INTO t VALUES (1, 'a')") }
      try await other.write { _ = try $0.execute("UPDATE t SET v = 'b' WHERE id = 1") }
      try await db.write { _ = try $0.execute("DELETE FROM t") }
      var feed = db.changes(since: start).makeAsyncIterator()
      let changes = [try await feed.next(), try await feed.next(), try await feed.next()]
      #expect(
        changes.compactMap { $0?.rows } == [
          [RowChange(table: "t", kind: .insert, key: [1])],
          [RowChange(table: "t", kind: .update, key: [1], columns: [1])],
          [RowChange(table: "t", kind: .delete, key: [1])],
        ])
      #expect(changes[0]?.origin == .thisProcess)
      #expect(changes[1]?.origin == .process(pid: getpid(), label: "other"))
      #expect(changes.allSatisfy { $0?.isEverything == false })
      await other.close()
    }
  }
}
