import BoutiqueDB
import Foundation
import Glibc
import ProcessHarness

extension Worker {
  /// `open`: opens the database of this worker.
  ///
  /// path; label, poll, lockTimeout and migrationTimeout (milliseconds), inotify, readOnly, create,
  /// readers, logBound (bytes), retention (changes kept), groupLimit, longHold, aging and quantum
  /// (milliseconds); migrations: a list of
  /// `{id, sql: […], crash}`. Emits `migrating` with the id as each migration runs, and `longHold` when a
  /// lease is held for long, if `longHold` was given.
  func open(_ command: Command) async throws -> [String: JSONValue] {
    var configuration = BoutiqueConfiguration()
    if let label = command["label"]?.string { configuration.label = label }
    if let poll = command.milliseconds("poll") { configuration.cdcPollInterval = poll }
    if let bound = command.milliseconds("lockTimeout") { configuration.writeLockTimeout = bound }
    if let bound = command.milliseconds("migrationTimeout") {
      configuration.migrationTimeout = bound
    }
    if let uses = command["inotify"]?.bool { configuration.usesInotify = uses }
    if let readOnly = command["readOnly"]?.bool { configuration.readOnly = readOnly }
    if let create = command["create"]?.bool { configuration.createIfMissing = create }
    if let readers = command["readers"]?.int { configuration.readerCount = readers }
    if let rows = command["retention"]?.int {
      configuration.cdcRetention = .init(rows: rows, age: .seconds(86_400))
    }
    if let bound = command["logBound"]?.int { configuration.writeAheadLogBound = Int64(bound) }
    if let limit = command["groupLimit"]?.int { configuration.groupCommitLimit = limit }
    if let quantum = command.milliseconds("quantum") { configuration.leaseQuantum = quantum }
    if let span = command.milliseconds("aging") { configuration.backgroundWriteAging = span }
    if let warning = command.milliseconds("longHold") {
      configuration.longHoldWarning = warning
      configuration.eventHandler = { event in
        if case .longHold(let hold) = event {
          command.emit(
            "longHold",
            [
              "pid": hold.pid.map { .integer(Int64($0)) } ?? .null,
              "label": hold.label.map { .text($0) } ?? .null,
              "purpose": hold.purpose.map { .text($0) } ?? .null,
              "isThisProcess": .bool(hold.isThisProcess), "isStopped": .bool(hold.isStopped),
            ])
        }
      }
    }
    let database = try await BoutiqueDB.open(
      path: command.text("path"), configuration: configuration, migrations: plan(command))
    setDatabase(database)
    return [:]
  }

  private func plan(_ command: Command) -> BoutiqueMigrationPlan {
    let migrations = command["migrations"]?.list ?? []
    return BoutiqueMigrationPlan {
      for migration in migrations {
        BoutiqueMigration(migration["id"]?.string ?? "") { connection in
          command.emit("migrating", ["id": migration["id"] ?? .null])
          for statement in migration["sql"]?.list ?? [] {
            try connection.execute(statement.string ?? "")
          }
          if migration["crash"] == true { kill(getpid(), SIGKILL) }
        }
      }
    }
  }

  func close() async throws -> [String: JSONValue] {
    await (try database()).close()
    return [:]
  }

  /// `exec`: runs one statement in a transaction of its own.
  ///
  /// sql, arguments; background, timeout (milliseconds). Answers with `changes` and the commit's `token`.
  func execute(_ command: Command) async throws -> [String: JSONValue] {
    let sql = try command.text("sql")
    let (changes, token) = try await database().writeWithToken(
      priority: command["background"] == true ? .background : .normal,
      timeout: command.milliseconds("timeout")
    ) { try $0.execute(sql, arguments: command.arguments) }
    return ["changes": .integer(Int64(changes)), "token": .text(token.description)]
  }

  /// `script`: sql; several statements in one transaction.
  func runScript(_ command: Command) async throws -> [String: JSONValue] {
    let sql = try command.text("sql")
    try await database().write { try $0.executeScript(sql) }
    return [:]
  }

  /// `query`: reads.
  ///
  /// sql, arguments. Answers with `rows`, a list of lists.
  func query(_ command: Command) async throws -> JSONValue {
    let sql = try command.text("sql")
    return try await database().read { connection in
      JSONValue(rows: try connection.query(sql, arguments: command.arguments))
    }
  }

  /// `status`: answers with the `status` as JSON.
  func status() async throws -> JSONValue {
    let data = try JSONEncoder().encode(try await database().status())
    return try JSONDecoder().decode(JSONValue.self, from: data)
  }

  /// `check`: answers with the `problems` that SQLite's integrity check found.
  func check() async throws -> [String: JSONValue] {
    ["problems": .list(try await database().integrityCheck().map { .text($0) })]
  }
}

extension JSONValue {
  /// The values of rows as a list of lists.
  init(rows: [Row]) {
    self = .list(rows.map { .list($0.values.map { JSONValue($0) }) })
  }
}
