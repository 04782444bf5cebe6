import FaultPoints
import Foundation
import SQLiteConnection

/// Applies the migrations that a database does not have yet, each exactly once.
///
/// Invariants:
/// 1. Which are applied is read in the same IMMEDIATE transaction that applies the next one, so two
///    processes can never both find it missing. (Read before the lock is taken, the list is stale when it
///    is used; the loser then fails with "table already exists".)
/// 2. A migration and its row in the history commit together. A process killed half-way has applied
///    nothing of it.
/// 3. The history is always the beginning of the plan. What does not fit (another order, one removed, one
///    that only a newer program knows) is an error before anything is changed.
struct Migrator: Sendable {
  let plan: BoutiqueMigrationPlan
  let path: String

  /// Throws when the applied migrations and the plan do not go together.
  ///
  /// An empty plan goes with everything: tools open what they did not make.
  func checkCompatible(on sqlite: Connection) throws {
    guard !plan.migrations.isEmpty else { return }
    _ = try pending(on: sqlite)
  }

  /// Whether a migration of the plan is not applied yet.
  func isBehind(on sqlite: Connection) throws -> Bool {
    guard !plan.migrations.isEmpty else { return false }
    return try !pending(on: sqlite).isEmpty
  }

  /// Applies what is missing.
  ///
  /// Call on the writer thread, under the write lease.
  func migrate(with writer: Writer) throws {
    let sqlite = writer.sqlite
    guard try isBehind(on: sqlite) else { return }
    try Self.withoutForeignKeys(on: sqlite) { while try applyNext(with: writer) {} }
  }

  /// Commits an alteration of the schema that is in no plan.
  ///
  /// Call on the writer thread, under the write lease.
  static func alterSchema(
    _ id: String, with writer: Writer, _ body: (BoutiqueConnection) throws -> Void
  ) throws -> ChangeSet? {
    try withoutForeignKeys(on: writer.sqlite) {
      do {
        return try writer.committing(since: .now()) { connection in
          try body(connection)
          if let error = connection.fatalError { throw error }
          if !writer.collector.isEmpty { try checkForeignKeys(on: connection) }
        }
      } catch let violation as ForeignKeyViolation {
        throw BoutiqueError.migrationFailed(id: id, message: "\(violation)")
      }
    }
  }

  /// Runs `body` with foreign keys not enforced.
  ///
  /// Inside a transaction the switch would do nothing (SQLite, PRAGMA foreign_keys).
  private static func withoutForeignKeys<R>(
    on sqlite: Connection, _ body: () throws -> R
  ) throws -> R {
    let enforces = try sqlite.queryInt64("PRAGMA foreign_keys") == 1
    if enforces { try sqlite.execute("PRAGMA foreign_keys = OFF") }
    defer { if enforces { try? sqlite.execute("PRAGMA foreign_keys = ON") } }
    return try body()
  }

  /// Applies the first missing migration.
  ///
  /// - Returns: false when none is missing.
  private func applyNext(with writer: Writer) throws -> Bool {
    var applied: BoutiqueMigration?
    do {
      _ = try writer.committing(since: .now()) { connection in
        guard let migration = try pending(on: writer.sqlite).first else { return }
        applied = migration
        if Sabotage.nonAtomicMigration.isOn { try writer.sqlite.execute("COMMIT") }
        try migration.body(connection)
        if Sabotage.nonAtomicMigration.isOn { try writer.sqlite.execute("BEGIN IMMEDIATE") }
        if let error = connection.fatalError { throw error }
        try Self.checkForeignKeys(on: connection)
        try remember(migration, on: writer.sqlite)
        FaultPoint.reach(.inMigration)
      }
    } catch {
      guard let applied else { throw error }
      let cause = BoutiqueError.translate(error, path: path)
      switch cause {
      // These say more than that a migration failed.
      case BoutiqueError.diskFull, BoutiqueError.lockTimeout, is CancellationError: throw cause
      default: throw BoutiqueError.migrationFailed(id: applied.id, message: "\(cause)")
      }
    }
    return applied != nil
  }

  private func remember(_ migration: BoutiqueMigration, on sqlite: Connection) throws {
    let insert = try sqlite.prepare(
      """
      INSERT INTO boutiquedb_migration (position, id, applied)
        VALUES ((SELECT count(*) + 1 FROM boutiquedb_migration), ?1, ?2)
      """)
    defer { insert.reset() }
    try insert.bind(migration.id, at: 1)
    try insert.bind(Int64(Date().timeIntervalSince1970), at: 2)
    try insert.run()
  }

  private static func checkForeignKeys(on connection: BoutiqueConnection) throws {
    let violations = try connection.query("PRAGMA foreign_key_check")
    guard let first = violations.first else { return }
    throw ForeignKeyViolation(
      count: violations.count, table: first["table"]?.description ?? "?",
      row: first["rowid"]?.description ?? "?", parent: first["parent"]?.description ?? "?")
  }

  private struct ForeignKeyViolation: Error, CustomStringConvertible {
    let count: Int
    let table: String
    let row: String
    let parent: String
    var description: String {
      "\(count) foreign key violation\(count == 1 ? "" : "s"); the first: row \(row) of \(table) "
        + "refers to a missing row of \(parent)"
    }
  }

  /// Returns the migrations of the plan that are not applied, or throws when the history does not fit.
  private func pending(on sqlite: Connection) throws -> ArraySlice<BoutiqueMigration> {
    let applied = try history(on: sqlite)
    for (position, (done, planned)) in zip(applied, plan.migrations).enumerated()
    where done != planned.id {
      let isKnown = plan.migrations.contains { $0.id == done }
      throw BoutiqueError.migrationOrder(
        path: path,
        message:
          "number \(position + 1) was '\(done)' when it was applied and is '\(planned.id)' in "
          + "the plan; '\(done)' "
          + (isKnown ? "has another place now" : "is no longer in the plan")
          + ". A plan is only ever appended to")
    }
    if applied.count > plan.migrations.count {
      throw BoutiqueError.databaseNewer(
        path: path, unknown: Array(applied[plan.migrations.count...]))
    }
    return plan.migrations[applied.count...]
  }

  private func history(on sqlite: Connection) throws -> [String] {
    guard try CaptureSchema.exists(CaptureSchema.migrationTable, on: sqlite) else { return [] }
    let select = try sqlite.prepare("SELECT id FROM boutiquedb_migration ORDER BY position")
    defer { select.reset() }
    var ids: [String] = []
    while try select.step() { ids.append(select.text(0)) }
    return ids
  }
}
