import BoutiqueDB
import Foundation
import TestDatabase
import Testing

// BEGIN mirror
/// A copy of the table `job`: a line with the token, then a line for each row.
struct JobMirror: Sendable {
  private(set) var token: ChangeToken?
  private(set) var jobs: [Int: Job] = [:]

  init(contentsOf file: URL) throws {
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
    let decoder = JSONDecoder()
    token = try lines.first.map { try decoder.decode(ChangeToken.self, from: $0) }
    for line in lines.dropFirst() {
      let job = try decoder.decode(Job.self, from: line)
      jobs[job.id] = job
    }
  }

  /// Rows and token reach the disk together or not at all.
  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    var lines = [try encoder.encode(token)]
    for id in jobs.keys.sorted() { lines.append(try encoder.encode(jobs[id])) }
    try Data(lines.joined(separator: [UInt8(ascii: "\n")])).write(to: file, options: .atomic)
  }

  /// The token first, then a snapshot, which is never older.
  mutating func begin(with db: BoutiqueDB) async throws {
    token = try await db.currentToken()
    try await readEverything(from: db)
  }

  mutating func apply(_ change: BoutiqueChange, from db: BoutiqueDB) async throws {
    if change.isEverything || change.wholeTables.contains("job") {
      try await readEverything(from: db)
    } else {
      var ids: Set<Int> = []
      for row in change.rows where row.table == "job" {
        if case .integer(let id)? = row.key.first { ids.insert(Int(id)) }
      }
      let changed = Array(ids)
      let rows = try await db.read { conn in try Job.find(changed).fetchAll(conn) }
      for id in ids { jobs[id] = nil }  // those that are not read again are gone
      for job in rows { jobs[job.id] = job }
    }
    token = change.token
  }

  private mutating func readEverything(from db: BoutiqueDB) async throws {
    let rows = try await db.read { conn in try Job.all.fetchAll(conn) }
    jobs = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
  }
}

func mirrorJobs(of db: BoutiqueDB, to file: URL) async throws {
  var mirror = try JobMirror(contentsOf: file)
  if mirror.token == nil {
    try await mirror.begin(with: db)
    try mirror.write(to: file)
  }
  for try await change in db.changes(since: mirror.token) {
    try await mirror.apply(change, from: db)
    try mirror.write(to: file)
  }
}
// END mirror

/// The guide's mirror of a table, beside everything that can happen to the table.
@Suite struct GuideMirrorTests {
  static let file = #filePath

  /// Waits until the mirror's file holds the table as it is now.
  private func caughtUp(_ file: URL, with db: BoutiqueDB) async throws -> Bool {
    let rows = try await db.read { conn in try Job.all.fetchAll(conn) }
    let deadline = ContinuousClock.now.advanced(by: .seconds(60))
    while ContinuousClock.now < deadline {
      if Array(try JobMirror(contentsOf: file).jobs.values).sorted(by: { $0.id < $1.id }) == rows,
        FileManager.default.fileExists(atPath: file.path)
      {
        return true
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  private func mirroring(
    _ db: BoutiqueDB, to file: URL, _ body: () async throws -> Void
  ) async throws {
    let task = Task { try await mirrorJobs(of: db, to: file) }
    try await body()
    task.cancel()
    do { try await task.value } catch is CancellationError {}
  }

  @Test func `the mirror holds the table through rows, bulk changes and foreign commits`()
    async throws
  {
    var configuration = BoutiqueConfiguration()
    configuration.captureRowLimit = 5
    try await withTestDatabase(configuration: configuration, migrations: Schema.plan) {
      db, directory in
      let file = directory.url("job.jsonl")
      try await mirroring(db, to: file) {
        #expect(try await caughtUp(file, with: db))
        try await db.write { conn in
          try Job.insert { [Job.Draft(name: "a"), Job.Draft(name: "b")] }.execute(conn)
        }
        #expect(try await caughtUp(file, with: db))
        try await db.write { conn in
          try Job.find(1).update { $0.isDone = true }.execute(conn)
          try Job.find(2).delete().execute(conn)
          try Job.insert { Job(id: 7, name: "it's “c”\n") }.execute(conn)
        }
        #expect(try await caughtUp(file, with: db))
        try await db.write { conn in
          for number in 0..<50 { try Job.insert { Job.Draft(name: "\(number)") }.execute(conn) }
        }
        #expect(try await caughtUp(file, with: db))
        let shell = Process()
        shell.executableURL = URL(filePath: "/usr/bin/env")
        shell.arguments = [
          "sqlite3", "-cmd", ".timeout 30000", directory.file("test.db"),
          "UPDATE job SET priority = 3 WHERE id > 20",
        ]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        #expect(try await caughtUp(file, with: db))
      }
    }
  }

  @Test func `a mirror that was ended goes on from its token`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, directory in
      let file = directory.url("job.jsonl")
      try await mirroring(db, to: file) { () async throws in
        #expect(try await caughtUp(file, with: db))
      }
      try await db.write { conn in
        try Job.insert { Job.Draft(name: "meanwhile") }.execute(conn)
      }
      let before = try JobMirror(contentsOf: file)
      #expect(before.jobs.isEmpty && before.token != nil)
      try await mirroring(db, to: file) { () async throws in
        #expect(try await caughtUp(file, with: db))
      }
    }
  }

  @Test func `a bulk change lists its table and no rows`() async throws {
    try await withTestDatabase(migrations: Schema.plan) { db, _ in
      let start = try await db.currentToken()
      #expect(ChangeToken("\(start)") == start)
      try await db.write { conn in
        for number in 0...1000 { try conn.execute("INSERT INTO job (name) VALUES (?)", number) }
      }
      for try await change in db.changes(since: start) {
        #expect(change.rows.isEmpty && change.wholeTables == ["job"] && !change.isEverything)
        break
      }
    }
  }
}
