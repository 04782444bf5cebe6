import BoutiqueDB
import Foundation
import StressHistory
import Synchronization

/// Tables as the change feed tells them: for each change only what it names is read again.
///
/// So the copy is right in the end only if the feed has named all that has changed. The tables have an integer
/// primary key `id`, and may be missing.
final class FeedCopy: Sendable {
  /// What is kept: the rows by table and key, and up to which change they are made.
  struct Kept: Codable, Sendable, Equatable {
    var token: ChangeToken?
    var rows: [String: [Int64: String]] = [:]
  }

  private struct State {
    var kept = Kept()
    var hasBegun = false
    var everythings = 0
  }

  private let name: String
  private let tables: [String]
  private let worker: WorkerContext
  /// Where it is kept from one process to the next; nil for nowhere.
  private let file: String?
  /// The name of a durable consumer; nil for a feed from a token.
  private let consumer: String?
  private let state = Mutex(State())

  init(
    _ name: String, tables: [String], _ worker: WorkerContext, file: String? = nil,
    consumer: String? = nil
  ) {
    self.name = name
    self.tables = tables
    self.worker = worker
    self.file = file
    self.consumer = consumer
  }

  var everythings: Int { state.withLock(\.everythings) }

  /// Follows the feed until the task is cancelled or the database is closed.
  func follow(_ db: BoutiqueDB) async {
    while !Task.isCancelled {
      do {
        try await begin(db)
        let since = state.withLock(\.kept.token)
        if let consumer {
          for try await change in db.changes(since: since, consumer: consumer) {
            try await take(change.change, on: db)
            // After the copy is on the disk: what is not acknowledged comes again.
            change.acknowledgeSoon()
          }
        } else {
          for try await change in db.changes(since: since) { try await take(change, on: db) }
        }
        return
      } catch {
        if Task.isCancelled { return }
        if case BoutiqueError.closed = error { return }
        if case BoutiqueError.fileReplaced = error { return }
        // The one before under this name is dead, but may not be gone yet.
        if case BoutiqueError.consumerInUse = error {
          worker.log.note(.trouble, "feed \(name)", "\(error)")
        } else {
          worker.judge(error, during: "feed \(name)")
        }
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  private func begin(_ db: BoutiqueDB) async throws {
    if state.withLock(\.hasBegun) { return }
    if let file, let data = FileManager.default.contents(atPath: file),
      let kept = try? JSONDecoder().decode(Kept.self, from: data)
    {
      state.withLock {
        $0.kept = kept
        $0.hasBegun = true
      }
      return
    }
    // In this order: what is committed in between is in the copy, and is told again.
    let token = try await db.currentToken()
    let tables = tables
    let rows = try await db.read { try Self.copy(tables, on: $0) }
    state.withLock {
      $0.kept = Kept(token: token, rows: rows)
      $0.hasBegun = true
    }
    keep()
  }

  private func take(_ change: BoutiqueChange, on db: BoutiqueDB) async throws {
    let (before, tables) = (state.withLock(\.kept), tables)
    if let last = before.token, last.generation == change.token.generation, !change.isEverything,
      change.token.number <= last.number, consumer == nil
    {
      worker.log.note(
        .violation, "feed", "\(name): token \(change.token) does not follow \(last)")
    }
    let rows = try await db.read { connection in
      if change.isEverything { return try Self.copy(tables, on: connection) }
      var rows = before.rows
      for table in tables where change.wholeTables.contains(table) {
        rows[table] = try Self.copy([table], on: connection)[table]
      }
      for row in change.rows
      where tables.contains(row.table) && !change.wholeTables.contains(row.table) {
        guard case .integer(let id)? = row.key.first else { continue }
        // A table that is gone is told of by a change that is still to come.
        guard let found = try? connection.queryOne("SELECT * FROM \(row.table) WHERE id = ?", id)
        else {
          rows[row.table]?[id] = nil
          continue
        }
        rows[row.table, default: [:]][id] = Self.text(found)
      }
      return rows
    }
    state.withLock {
      $0.kept = Kept(token: change.token, rows: rows)
      if change.isEverything { $0.everythings += 1 }
    }
    keep()
  }

  private static func copy(
    _ tables: [String], on connection: BoutiqueConnection
  ) throws -> [String: [Int64: String]] {
    var copies: [String: [Int64: String]] = [:]
    for table in tables {
      let isThere =
        try connection.queryOne(
          "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table) != nil
      guard isThere else { continue }
      var rows: [Int64: String] = [:]
      try connection.forEachRow("SELECT * FROM \(table)") {
        rows[try $0.decode("id", as: Int64.self)] = Self.text($0)
      }
      copies[table] = rows
    }
    return copies
  }

  private static func text(_ row: Row) -> String {
    zip(row.columns, row.values).map { "\($0)=\($1)" }.joined(separator: " ")
  }

  private func keep() {
    guard let file, let data = try? JSONEncoder().encode(state.withLock(\.kept)) else { return }
    try? data.write(to: URL(filePath: file), options: .atomic)
  }

  /// Waits until the copy equals the tables; call it when this process writes no more.
  func settle(on db: BoutiqueDB) async {
    let start = HistoryLog.now()
    let tables = tables
    while true {
      let truth = try? await db.read { try Self.copy(tables, on: $0) }
      let copy = state.withLock(\.kept.rows)
      if let truth, tables.allSatisfy({ (truth[$0] ?? [:]) == (copy[$0] ?? [:]) }) { return }
      if Double(HistoryLog.now() - start) / 1e9 > 60 {
        worker.log.note(
          .violation, "convergence",
          "feed \(name): " + Self.difference(truth ?? [:], copy).prefix(600))
        return
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private static func difference(
    _ truth: [String: [Int64: String]], _ copy: [String: [Int64: String]]
  ) -> String {
    var lines: [String] = []
    for table in Set(truth.keys).union(copy.keys).sorted() {
      let (rows, copied) = (truth[table] ?? [:], copy[table] ?? [:])
      for id in Set(rows.keys).union(copied.keys).sorted() where rows[id] != copied[id] {
        lines.append("\(table) \(id) is \(rows[id] ?? "not there"), copied \(copied[id] ?? "not")")
      }
    }
    return lines.prefix(5).joined(separator: "; ")
  }
}
