import Foundation
import SQLiteConnection
import SharedFileCoordination

/// Writes one row of the change log for each commit of this process, and accounts for everybody else's.
///
/// The row is part of the transaction it describes, so it lives and dies with it. It carries the WAL
/// index's change counter before and after: SQLite raises that counter by exactly one with every commit
/// of any program, and while a write transaction is open nobody else can commit. A reader who finds that
/// one row's `counter_before` is not the last row's `counter_after` knows that a foreign program
/// committed in between.
///
/// Confined to the writer thread.
final class ChangeLogWriter {
  private let sqlite: Connection
  private let label: String
  private let shapes: SchemaShapes
  private let pruner: LogPruner
  /// The newest token, as of `knownCounter`.
  private(set) var head: Int64 = 0
  /// The counter after the last commit that this object has accounted for; nil: ask the database.
  private var knownCounter: UInt32?
  private var schemaVersion: Int64?
  /// Who we are in the log.
  ///
  /// Random, so that nobody else is ever taken for us, whatever becomes of the table of origins (a
  /// restored file, a tool that empties it).
  let origin = Int64.random(in: 1...Int64.max)
  /// Who stands in the log for programs without this library.
  static let foreignOrigin: Int64 = 0
  /// Whether our row in the table of origins is known to be there.
  private var isIntroduced = false
  private let started = Int64(Date().timeIntervalSince1970)
  private var counterBefore: UInt32?
  /// Whether something in the schema may end a transaction by itself (`ON CONFLICT ROLLBACK`,
  /// `RAISE(ROLLBACK, …)`), or once could.
  private(set) var schemaMayRollBack = false
  private var madeRollback = false
  private let continuity: () -> (number: Int64?, bridge: ContinuityBridge?)
  /// What makes foreign commits precise, where that is switched on.
  let foreign: ForeignCapture
  /// The foreign commits that this transaction has taken into the log; to be published before its own.
  private(set) var adopted: ChangeSet?
  /// What the transaction found out that an operator should know once it is committed.
  private var events: [BoutiqueEvent] = []
  /// Is told of those.
  private let report: (BoutiqueEvent) -> Void
  /// Called when the schema was changed by somebody else, inside the transaction, before the closure.
  var onForeignSchemaChange: (() throws -> Void)?
  /// Writes what belongs to the commit's changes beside the log, given the number of the first.
  var onAppend: ((_ first: Int64) throws -> Void)?

  /// - Parameter continuity: the present one, and what it goes on from.
  init(
    sqlite: Connection, label: String, shapes: SchemaShapes, pruner: LogPruner, rowLimit: Int,
    continuity: @escaping () -> (number: Int64?, bridge: ContinuityBridge?),
    report: @escaping (BoutiqueEvent) -> Void
  ) {
    self.sqlite = sqlite
    self.label = label
    self.shapes = shapes
    self.pruner = pruner
    self.continuity = continuity
    self.report = report
    foreign = ForeignCapture(sqlite: sqlite, rowLimit: rowLimit)
  }

  /// Learns where the log and the schema stand.
  ///
  /// Call right after BEGIN IMMEDIATE.
  func begin() throws {
    counterBefore = sqlite.walIndexHeader()?.change
    adopted = nil
    // When nobody has committed since our last commit, what we know still holds.
    if let counterBefore, counterBefore == knownCounter, !foreign.hasRequest { return }
    knownCounter = nil
    // Somebody has committed: they may have pruned our row away.
    isIntroduced = false
    try shapes.loadModes(from: sqlite)
    let version = try sqlite.queryInt64("PRAGMA schema_version")
    if version != schemaVersion {
      // What they do was found out when they were compiled.
      sqlite.flushStatementCache()
      if try !CaptureSchema.isInstalled(on: sqlite) { try reinstall() }
      try shapes.load(from: sqlite)
      schemaMayRollBack =
        try madeRollback
        || sqlite.queryInt64(
          "SELECT 1 FROM sqlite_schema WHERE sql LIKE '%rollback%' LIMIT 1") != nil
      // Each time until it passes: a program that was overtaken must not write the second time either.
      try onForeignSchemaChange?()
      schemaVersion = version
      foreign.schemaDidChange()
    }
    head = try ChangeReader.newestToken(on: sqlite)
    if head == 0, try CaptureSchema.hasLostItsRows(sqlite) {
      try CaptureSchema.beginGeneration(on: sqlite)
    }
    try adopt()
  }

  // MARK: Foreign commits

  /// Takes into the log what foreign programs committed since its newest row, where that is precise.
  private func adopt() throws {
    let (continuity, bridge) = continuity()
    let newest = try ChangeReader.commit(head, on: sqlite)
    let found = try foreign.account(
      newest: newest, counter: counterBefore, continuity: continuity, bridge: bridge)
    if foreign.hasChangedSchema { schemaVersion = try sqlite.queryInt64("PRAGMA schema_version") }
    guard let found else { return }
    // A change of no table in the list is one that cannot be described.
    let summary =
      found.summary
      ?? CommitSummary(
        tables: [], changes: [RecordedChange(kind: .update, table: 0, key: .whole, columns: [])])
    var change = try insert(
      summary, origin: Self.foreignOrigin, counterBefore: found.counterBefore,
      counterAfter: counterBefore, continuity: continuity)
    try noteBridge(bridge, of: change)
    change.isEverything = found.summary == nil
    if change.isEverything { change.summary = CommitSummary(tables: [], changes: []) }
    head = change.token
    adopted = change
  }

  /// Whether foreign commits are described as they should be, and none waits for it.
  func isForeignCaptureSettled() throws -> Bool {
    let (continuity, bridge) = continuity()
    return try foreign.isSettled(continuity: continuity, bridge: bridge)
  }

  /// Whether `begin` has written something that is to be committed even if nothing else is.
  var hasWritten: Bool { adopted != nil || foreign.hasWritten }

  /// Ends a transaction that has changed nothing of its own.
  ///
  /// - Returns: what `begin` changed, to be committed; nil when there is nothing to commit.
  func appendNothing() throws -> ChangeSet? {
    guard var adopted else {
      guard foreign.hasWritten else { return nil }
      return try append(CommitSummary(tables: [], changes: []), schemaChanged: false)
    }
    // The commit that is about to happen is part of what the adopted row accounts for.
    let after = counterBefore.map { $0 &+ 1 }
    adopted.counterAfter = after
    self.adopted = nil
    let update = try sqlite.prepare(
      "UPDATE boutiquedb_cdc SET counter_after = ?1 WHERE token = ?2")
    defer { update.reset() }
    if let after { try update.bind(Int64(after), at: 1) } else { try update.bindNull(at: 1) }
    try update.bind(adopted.token, at: 2)
    try update.run()
    return adopted
  }

  /// Adds the commit's row.
  ///
  /// Call last before COMMIT.
  ///
  /// - Returns: the change set as other processes will read it, to be published after the commit.
  func append(_ summary: CommitSummary, schemaChanged: Bool) throws -> ChangeSet {
    if schemaChanged { try foreign.followSchema() }
    try introduce()
    let (continuity, bridge) = continuity()
    let start =
      summary.tables.isEmpty ? try emptyRow(continuity: continuity, bridge: bridge) : nil
    let change = try insert(
      summary, origin: origin, counterBefore: counterBefore,
      counterAfter: counterBefore.map { $0 &+ 1 }, continuity: continuity, from: start)
    try onAppend?(change.first)
    try noteBridge(bridge, of: change)
    events += try pruner.pruneNowAndThen(newest: change.token, time: change.stamp)
    if schemaChanged { schemaVersion = nil }
    return change
  }

  /// The first commit of a session that goes on from the one before says so.
  private func noteBridge(_ bridge: ContinuityBridge?, of change: ChangeSet) throws {
    guard let bridge, bridge.continuity == change.continuity,
      bridge.counter == change.counterBefore
    else { return }
    try SessionTable.insert(bridge, token: change.token, on: sqlite)
  }

  private func insert(
    _ summary: CommitSummary, origin: Int64, counterBefore: UInt32?, counterAfter: UInt32?,
    continuity: Int64?, from start: (first: Int64, counterBefore: UInt32)? = nil
  ) throws -> ChangeSet {
    let first = head + 1
    let token = head + Int64(summary.changes.count) + 1
    let time = Int64((Date().timeIntervalSince1970 * 1000).rounded())
    let insert = try sqlite.prepare(
      """
      INSERT INTO boutiquedb_cdc
        (token, first, time, origin, counter_before, counter_after, tables, changes, continuity)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """)
    defer { insert.reset() }
    try insert.bind(token, at: 1)
    try insert.bind(start?.first ?? first, at: 2)
    try insert.bind(time, at: 3)
    try insert.bind(origin, at: 4)
    let chainedFrom = start?.counterBefore ?? counterBefore
    try insert.bind(chainedFrom.map { SQLiteValue.integer(Int64($0)) } ?? .null, at: 5)
    try insert.bind(counterAfter.map { SQLiteValue.integer(Int64($0)) } ?? .null, at: 6)
    try insert.bind(utf8: summary.tablesJSON, at: 7)
    try insert.bind(utf8: summary.changesJSON, at: 8)
    try insert.bind(continuity.map { SQLiteValue.integer($0) } ?? .null, at: 9)
    try insert.run()
    if head == 0 { try CaptureSchema.noteFirstRow(on: sqlite) }
    if start != nil { try delete(head) }
    return ChangeSet(
      token: token, first: first, summary: summary, isEverything: false,
      origin: origin == Self.foreignOrigin ? nil : origin,
      time: time, counterBefore: counterBefore, counterAfter: counterAfter, continuity: continuity)
  }

  /// Returns where the newest row begins when it, too, is of a commit that changed nothing, so that the new
  /// one can stand for both.
  ///
  /// A consumer that catches up acknowledges as many times as there are changes; each with a row of its own
  /// would push out of the log what it has yet to read. Only rows that follow each other without a foreign
  /// commit are put together: a reader that stopped in the middle can tell by the numbers.
  private func emptyRow(
    continuity: Int64?, bridge: ContinuityBridge?
  ) throws -> (first: Int64, counterBefore: UInt32)? {
    let select = try sqlite.prepare(
      """
      SELECT first, counter_before, counter_after, continuity FROM boutiquedb_cdc
        WHERE token = ?1 AND tables = '[]' AND changes = '[]' AND origin <> 0
      """)
    defer { select.reset() }
    try select.bind(head, at: 1)
    guard try select.step(), let before = select.counter(1), let after = select.counter(2),
      after == counterBefore, select.number(3) == continuity,
      // The row of a session's first commit is known by its number.
      before != bridge?.counter
    else { return nil }
    return (select.int64(0), before)
  }

  /// Takes away a row in whose place another stands by now.
  private func delete(_ token: Int64) throws {
    let delete = try sqlite.prepare("DELETE FROM boutiquedb_cdc WHERE token = ?1")
    defer { delete.reset() }
    try delete.bind(token, at: 1)
    try delete.run()
  }

  /// Notes that the transaction with `change` is committed.
  func didCommit(_ change: ChangeSet?) {
    foreign.didCommit()
    guard let change else {
      // Without a row of ours the counter may have moved or not (a pragma writes pages as well).
      knownCounter = nil
      return
    }
    head = change.token
    if change.origin != nil { isIntroduced = true }
    pruner.didCommit()
    for event in events { report(event) }
    events = []
    // After a change of the schema the shapes have to be read again.
    knownCounter = schemaVersion == nil ? nil : change.counterAfter
  }

  /// Notes that a closure made something that may end a transaction, be it a temporary trigger.
  func noteRollbackInSchema() {
    madeRollback = true
    schemaMayRollBack = true
  }

  /// Notes that the transaction is undone.
  func didRollBack() {
    if !events.isEmpty { pruner.didRollBack() }
    events = []
    knownCounter = nil
    isIntroduced = false
    adopted = nil
    // The triggers that this transaction made are gone with it.
    if foreign.hasChangedSchema { schemaVersion = nil }
    foreign.didRollBack()
  }

  /// Makes the log anew after a foreign tool has dropped it.
  ///
  /// Its numbers start again, so it is another generation.
  private func reinstall() throws {
    try CaptureSchema.install(on: sqlite)
  }

  /// Makes sure that the table of origins says who we are.
  private func introduce() throws {
    guard !isIntroduced else { return }
    let insert = try sqlite.prepare(
      "INSERT OR IGNORE INTO boutiquedb_origin (id, pid, label, started) VALUES (?1, ?2, ?3, ?4)")
    defer { insert.reset() }
    try insert.bind(origin, at: 1)
    try insert.bind(Int64(getpid()), at: 2)
    try insert.bind(label, at: 3)
    try insert.bind(started, at: 4)
    try insert.run()
  }
}
