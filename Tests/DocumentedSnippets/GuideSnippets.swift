import BoutiqueDB
import Foundation
import Observation
import TestDatabase
import Testing

// BEGIN model
@Table struct Job: Codable, Equatable, Sendable {
  let id: Int
  var name: String
  var isDone: Bool = false
  var priority: Int = 0
}
// END model

// BEGIN migrations
enum Schema {
  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1_jobs") { conn in
      try conn.execute(
        """
        CREATE TABLE job (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, isDone INTEGER NOT NULL DEFAULT 0)
        """)
    }
    BoutiqueMigration("v2_priority") { conn in
      try conn.execute("ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0")
    }
  }
}
// END migrations

// BEGIN live properties
@MainActor @Observable final class Board {
  @ObservationIgnored @LiveQuery var open: [Job]  // all rows
  @ObservationIgnored @LiveQueryOne var count: Int?  // one value, nil until it is there

  init(_ db: BoutiqueDB) {
    _open = LiveQuery(db) { Job.where { $0.isDone.eq(false) } }
    _count = LiveQueryOne(db) { try $0.queryOne("SELECT count(*) FROM job")?.decode(0) }
  }
}
// END live properties

// BEGIN observing on after errors
func show(_ jobs: QueryObservation<[Job]>) async {
  var values = jobs.makeAsyncIterator()
  while true {
    do {
      guard let jobs = try await values.next() else { return }  // nil: the task was cancelled
      print(jobs.map(\.name))
    } catch BoutiqueError.closed, BoutiqueError.fileReplaced {
      return  // nothing more will come
    } catch {
      print(error)  // the table was dropped, for instance
    }
  }
}
// END observing on after errors

/// The blocks of `docs/guide.md`.
@Suite struct GuideSnippets {
  @Test func `opening`() async throws {
    let directory = try TestDirectory()
    let url = directory.url("app.db")
    let plan = Schema.plan
    // BEGIN opening
    var config = BoutiqueConfiguration()
    config.label = "collector"  // what errors and tools call this process
    let db = try await BoutiqueDB.open(url: url, configuration: config, migrations: plan)
    // END opening
    #expect(try await db.status().migrations == ["v1_jobs", "v2_priority"])
    await db.close()
  }

  @Test func `reading and writing by SQL`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      let name = "it's"
      let word = "t's"
      // BEGIN reading and writing
      let id = try await db.write { conn in  // one transaction; throw to undo it
        try conn.execute("INSERT INTO job (name) VALUES (?)", name)
        return conn.lastInsertedRowID
      }
      let rows = try await db.read { conn in  // one snapshot
        try conn.query("SELECT id, name FROM job WHERE name LIKE ?", "%\(word)%")
      }
      for row in rows { print(try row.decode("name", as: String.self)) }
      // END reading and writing
      #expect(id == 1)
      #expect(rows.map { $0["name"] } == [.text(name)])
      await #expect(throws: BoutiqueError.self) {
        try await db.read { conn in try conn.query("SELECT * FROM job WHERE name = \(name)") }
      }
      let bound = try await db.read { conn in
        try conn.query(#sql("SELECT * FROM job WHERE name = \(name)"))
      }
      #expect(bound.count == 1)
    }
  }

  @Test func `more ways to run statements`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      let first = 0
      let name = "a"
      let names = ["a", "b"]
      let word = "b"
      // BEGIN statements
      try await db.write { conn in
        let newest = try conn.queryOne("SELECT id, name FROM job ORDER BY id DESC")  // Row, or nil
        print(newest?["name"] ?? .null)  // an SQLValue: .null, .integer, .real, .text or .blob
        try conn.forEachRow("SELECT name FROM job WHERE id > ?", arguments: [first]) { row in
          print(row[0])  // each row as it is read; no list is made
        }
        let insert = try conn.prepare("INSERT INTO job (name) VALUES (?)")  // PreparedQuery
        for name in names { try insert.run(name) }
        try conn.execute("DELETE FROM job WHERE name = :name", named: ["name": name])
        try conn.execute(#sql("UPDATE job SET isDone = \(true) WHERE name = \(word)"))
      }
      // END statements
      let jobs = try await db.read { conn in try Job.all.fetchAll(conn) }
      #expect(jobs == [Job(id: 2, name: "b", isDone: true)])
    }
  }

  @Test func `typed models`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      // BEGIN models
      let open = Job.where { $0.isDone.eq(false) }.order { $0.priority.desc() }

      try await db.write { conn in
        try Job.insert { Job.Draft(name: "index", priority: 2) }.execute(conn)  // makes the id
        try Job.where { $0.name.eq("index") }.update { $0.priority.set(3) }.execute(conn)
        try Job.where { $0.isDone }.delete().execute(conn)
      }
      let jobs = try await db.read { conn in try open.fetchAll(conn) }  // [Job]
      let first = try await db.read { conn in try Job.find(1).fetchOne(conn) }  // Job?

      for try await jobs in db.observe({ Job.where { $0.isDone.eq(false) } }) {
        print(jobs.map(\.name))
        // END models
        #expect(jobs == [Job(id: 1, name: "index", priority: 3)])
        break
        // BEGIN models
      }
      // END models
      #expect(jobs == [Job(id: 1, name: "index", priority: 3)])
      #expect(first == jobs.first)
      // BEGIN row by row
      let total = try await db.read { conn in
        var total = 0
        let jobs = try Job.order { $0.id }.fetchCursor(conn)
        while let job = try jobs.next() { total += job.priority }
        try Job.where { $0.isDone }.forEach(conn) { job in total -= job.priority }
        return total
      }
      // END row by row
      #expect(total == 3)
    }
  }

  @Test func `observing, on after an error`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      // BEGIN observing
      for try await count in db.observe({ conn in
        try conn.query("SELECT count(*) FROM job WHERE NOT isDone")[0].decode(0, as: Int.self)
      }) {
        print("open jobs:", count)
        // END observing
        #expect(count == 0)
        break
        // BEGIN observing
      }
      // END observing
      let showing = Task { await show(db.observe { Job.all }) }
      try await db.write { conn in try conn.execute("DROP TABLE job") }
      showing.cancel()
      await showing.value
    }
  }

  @MainActor @Test func `live properties follow the table`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      let board = Board(db)
      try await db.write { conn in
        try Job.insert { Job.Draft(name: "index") }.execute(conn)
      }
      try await board.$open.refresh()
      try await board.$count.refresh()
      #expect(board.open.map(\.name) == ["index"])
      #expect(board.count == 1)
    }
  }

  @Test func `events come to the handler of the configuration`() async throws {
    // BEGIN events
    var configuration = BoutiqueConfiguration()
    configuration.longHoldWarning = .seconds(5)
    configuration.eventHandler = { event in  // on a thread of the library: return soon
      if case .longHold(let hold) = event {
        // pid and label are nil when they could not be found out
        print("the write lease of \(hold.path) is held for \(hold.heldFor) by pid \(hold.pid ?? 0)")
        print("label \(hold.label ?? "?"), for \(hold.purpose ?? "?"), stopped: \(hold.isStopped)")
      }
    }
    // END events
    try await withTestDatabase(configuration: configuration) { db, _ in
      let rows = try await db.count(of: "SELECT 1")
      #expect(rows == 1)
    }
  }

  @Test func `the guide shows the code that is tested`() throws {
    let page = try DocumentedText.blocks(of: "docs/guide.md")
    #expect(page.nameless == [])
    var tested = try DocumentedText.regions(of: #filePath)
    tested.merge(try DocumentedText.regions(of: GuideMirrorTests.file)) { first, _ in first }
    // A whole program, which `GuideDaemonTests` compiles from the page itself.
    #expect(Set(page.named.keys) == Set(tested.keys).union(["daemon"]))
    for (name, code) in tested {
      #expect(
        DocumentedText.lines(page.named[name] ?? "") == DocumentedText.lines(code), "\(name)")
    }
  }
}
