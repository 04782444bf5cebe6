import FaultPoints
import Foundation
import SQLiteConnection
import SharedFileCoordination
import StructuredQueries

/// Describes the commits of programs without this library precisely, by what triggers noted of them.
///
/// Whoever of ours writes next, be it only for this purpose, *adopts* the foreign commits since the newest
/// row of the change log: the notes become one row of the log, of origin 0, whose counters reach from that
/// row to now, and are deleted. So the chain of counters stays whole, and every reader finds the foreign
/// change in its place. Where the notes are not proof, the adopted row says "everything" instead.
///
/// Invariants, each of which makes the difference between precise and everything:
/// 1. **The chain is vouched for**: the newest row of the log is of the present continuity, or of one that it
///    goes on from, and the counter is ahead of it by at least one. (After all processes of ours were gone
///    nobody knows what happened, unless it is proven that nothing did.)
/// 2. **The triggers were complete**: schema, schema version, user version and application id are as they
///    were when the triggers were last made or looked at (`ForeignProof`).
/// 3. **No note is missing**: their numbers follow each other from the last adopted one on. That one is
///    kept, so that numbers never start again by themselves.
/// 4. **Every commit left a note**: there are at least as many notes as commits. A commit without one (a
///    number in the header, a write through a BLOB handle, a program that switched triggers off) is hidden
///    only by another commit with more than one, between two adoptions.
/// 5. The mode is the database's, not a process's: whoever opens it, adopts.
///
/// Adoption, notes, triggers and proof change in the transaction that the process of ours writes in, so a
/// death after any step leaves all of it done or none.
///
/// Confined to the writer thread.
final class ForeignCapture {
  /// What is to be, from the configuration or a call.
  struct Request: Sendable {
    var isPrecise: Bool
    /// The tables that get triggers; nil for all.
    var selection: Set<String>?
    /// Adds to what the database has instead of replacing it, so that processes with different
    /// configurations do not undo each other's.
    var isAddition: Bool
  }

  /// A row for the log.
  struct Adoption {
    /// nil for everything.
    var summary: CommitSummary?
    var counterBefore: UInt32?
  }

  private let sqlite: Connection
  private let rowLimit: Int
  private var request: Request?
  /// The mode as of the last look at the schema.
  private(set) var isPrecise = false
  private var selection: Set<String>?
  private var schema = ForeignTable.Schema()
  private var isLoaded = false
  /// Whether the triggers were found complete since the schema was looked at.
  private var isVerified = false
  /// Whether this transaction has made or dropped triggers.
  private(set) var hasChangedSchema = false
  /// Whether this transaction has written anything for this purpose.
  private(set) var hasWritten = false

  init(sqlite: Connection, rowLimit: Int) {
    self.sqlite = sqlite
    self.rowLimit = rowLimit
  }

  /// Asks for a mode; the next write transaction sets it.
  func ask(for request: Request) { self.request = request }

  /// Whether the next write transaction has something to set.
  var hasRequest: Bool { request != nil }

  // MARK: The transaction

  /// Forgets what was known of the mode and the triggers; somebody changed the schema.
  func schemaDidChange() { isLoaded = false }

  /// Looks at what happened since the newest row of the log.
  ///
  /// Call when a write transaction has begun and the counter has moved, or the mode is to be set.
  ///
  /// - Returns: what to add to the log; nil when nothing.
  func account(
    newest: ChangeReader.Commit?, counter: UInt32?, continuity: Int64?, bridge: ContinuityBridge?
  ) throws -> Adoption? {
    hasChangedSchema = false
    hasWritten = false
    if !isLoaded { try load() }
    let before = newest.flatMap { Self.end(of: $0, continuity: continuity, bridge: bridge) }
    let isWhole = before != nil && before == counter
    if let request, !isFulfilled(request) {
      try fulfil(request)
      try restore(clearing: true)
      // What came before was not noted.
      return isPrecise && !isWhole ? Adoption(summary: nil, counterBefore: before) : nil
    }
    guard isPrecise else {
      if hasLeftovers { try restore(clearing: true) }
      return nil
    }
    if isWhole {
      if !isVerified, try !isProven() { try restore(clearing: false) }
      isVerified = true
      return nil
    }
    // Without a counter nothing is proof, and readers do without the chain.
    guard counter != nil else { return nil }
    if let before, let counter, try isProven(),
      let summary = try ForeignDescription(of: schema, rowLimit: rowLimit, on: sqlite)
        .adopt(commits: counter &- before)
    {
      FaultPoint.reach(.inAdoption)
      return Adoption(summary: summary, counterBefore: before)
    }
    try restore(clearing: true)
    return Adoption(summary: nil, counterBefore: before)
  }

  /// Returns the counter after the newest row of the log, as a counter of the present session; nil where
  /// nobody vouches.
  private static func end(
    of newest: ChangeReader.Commit, continuity: Int64?, bridge: ContinuityBridge?
  ) -> UInt32? {
    guard let continuity else { return nil }
    if newest.continuity == continuity { return newest.counterAfter }
    // A session that was proven to go on from the last one begins with another number.
    guard let bridge, bridge.continuity == continuity,
      bridge.formerContinuity == newest.continuity, bridge.formerCounter == newest.counterAfter
    else { return nil }
    return bridge.counter
  }

  /// Makes the triggers fit what our own transaction made of the schema.
  ///
  /// Call before its row is written.
  func followSchema() throws {
    isLoaded = false
    try load()
    if isPrecise || hasLeftovers { try restore(clearing: false) }
  }

  /// Takes a table's triggers out of the way of a statement that alters it; they come back with
  /// `followSchema`.
  ///
  /// SQLite would refuse to drop a column that one of them names.
  func willAlter(_ table: String) throws {
    guard isPrecise else { return }
    for trigger in try triggers() where trigger.table.lowercased() == table.lowercased() {
      try drop(trigger.name)
    }
  }

  func didCommit() {
    request = nil
    hasChangedSchema = false
    hasWritten = false
  }

  func didRollBack() {
    isLoaded = false
    hasChangedSchema = false
    hasWritten = false
  }

  // MARK: The mode

  /// Whether nothing is left for a write transaction to do, as far as a look without one can tell.
  func isSettled(continuity: Int64?, bridge: ContinuityBridge?) throws -> Bool {
    isLoaded = false
    try load()
    defer { isLoaded = false }
    if let request, !isFulfilled(request) { return false }
    guard isPrecise else { return !hasLeftovers }
    let newest = try ChangeReader.commit(ChangeReader.newestToken(on: sqlite), on: sqlite)
    guard let newest, let end = Self.end(of: newest, continuity: continuity, bridge: bridge),
      end == sqlite.walIndexHeader()?.change
    else { return false }
    return try isProven()
  }

  private var hasLeftovers = false

  private func load() throws {
    isPrecise = try ForeignCapture.isPrecise(on: sqlite)
    selection = try ForeignCapture.selection(on: sqlite)
    schema = ForeignTable.Schema()
    if isPrecise { schema = try ForeignTable.schema(of: sqlite, selection: selection) }
    hasLeftovers = try !isPrecise && !triggers().isEmpty
    isLoaded = true
    isVerified = false
  }

  private func merged(_ request: Request) -> Set<String>? {
    guard request.isAddition, isPrecise else { return request.selection }
    guard let asked = request.selection, let selection else { return nil }
    return selection.union(asked)
  }

  private func isFulfilled(_ request: Request) -> Bool {
    request.isPrecise == isPrecise && (!isPrecise || merged(request) == selection)
  }

  /// Sets the mode; it stays asked for until the transaction is committed.
  private func fulfil(_ request: Request) throws {
    let selection = merged(request)
    isPrecise = request.isPrecise
    self.selection = selection
    schema = ForeignTable.Schema()
    for key in [Self.modeKey, Self.selectionKey, Self.proofKey, Self.adoptedKey] {
      try Self.setMeta(key, nil, on: sqlite)
    }
    guard isPrecise else { return }
    schema = try ForeignTable.schema(of: sqlite, selection: selection)
    try Self.setMeta(Self.modeKey, "precise", on: sqlite)
    if let selection {
      let names = try JSONEncoder().encode(selection.sorted())
      try Self.setMeta(
        Self.selectionKey, String(decoding: names, as: UTF8.self), on: sqlite)
    }
  }

  // MARK: Triggers

  private func isProven() throws -> Bool {
    try Self.meta(Self.proofKey, on: sqlite) == ForeignProof.current(on: sqlite).text
  }

  /// Makes the triggers what they should be, and notes that they are.
  ///
  /// - Parameter clearing: whether the notes are worth nothing.
  private func restore(clearing: Bool) throws {
    hasWritten = true
    // A trigger whose table is gone makes every write of everybody fail, this one included.
    try CaptureSchema.installForeignTable(on: sqlite)
    let wanted = isPrecise ? ForeignTriggers.all(for: schema.captured) : []
    var missing = Dictionary(
      wanted.map { (ByteExactString($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    for existing in try triggers() {
      if let trigger = missing[ByteExactString(existing.name)],
        ByteExactString(trigger.sql) == ByteExactString(existing.sql),
        ByteExactString(trigger.table) == ByteExactString(existing.table)
      {
        missing[ByteExactString(existing.name)] = nil
      } else {
        try drop(existing.name)
      }
    }
    for trigger in wanted where missing[ByteExactString(trigger.name)] != nil {
      try sqlite.executeScript(trigger.statement)
      hasChangedSchema = true
    }
    hasLeftovers = false
    if clearing {
      try sqlite.execute("DELETE FROM boutiquedb_foreign")
      try Self.setMeta(Self.adoptedKey, nil, on: sqlite)
    }
    if isPrecise {
      try Self.setMeta(Self.proofKey, ForeignProof.current(on: sqlite).text, on: sqlite)
    }
  }

  private func triggers() throws(SQLiteError) -> [ForeignTriggers.Trigger] {
    let select = try sqlite.prepare(
      """
      SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'
        AND substr(name, 1, length(?1)) = ?1
      """)
    defer { select.reset() }
    try select.bind(ForeignTriggers.prefix, at: 1)
    var found: [ForeignTriggers.Trigger] = []
    while try select.step() {
      found.append(.init(name: select.text(0), table: select.text(1), sql: select.text(2)))
    }
    return found
  }

  private func drop(_ name: String) throws {
    try sqlite.executeScript("DROP TRIGGER main.\(quoted(identifier: name))")
    hasChangedSchema = true
  }
}
