import SQLiteConnection

/// Gathers in memory what the statements of one transaction change.
///
/// Filled by SQLite's preupdate hook, which sees what triggers and the update hook do not: rows that
/// REPLACE displaces, tables without row ids, DELETE without WHERE, cascades and the changes that
/// triggers make. Confined to the writer thread, like the connection that calls it.
///
/// What is gathered lies in memory of its own and not in stored properties: the compiler has each access to a
/// class's properties checked for overlaps, several for each changed row.
final class ChangeCollector: PreupdateObserver {
  /// A place among what was gathered: changes, tables, and events of a table becoming whole.
  typealias Mark = StatementMark

  /// How much is kept of one transaction.
  struct Limits {
    /// Changed rows of one table that are named by their keys.
    var rows: Int
    /// Bytes of the rows that are kept whole, all tables together.
    var bytes: Int
  }

  /// One write's part of a transaction that several share.
  struct Part {
    fileprivate let mark: Mark
    fileprivate let schemaChanged: Bool
  }

  // Each method below uses it once, and what it calls meanwhile does not come back to the collector: `readSchema` and
  // `schemaMayFail` only read, and the hook is not called for reading.
  private let collected: UnsafeMutablePointer<CollectedChanges>
  /// Reads the schema's rows; nil where that fails.
  var readSchema: () -> [SchemaDifference.Object]? = { nil }
  /// Whether a trigger or table of the schema can fail without undoing.
  var schemaMayFail: () -> Bool = { true }

  init(limits: Limits, shapes: SchemaShapes) {
    collected = .allocate(capacity: 1)
    collected.initialize(to: CollectedChanges(limits: limits, shapes: shapes))
  }

  deinit {
    collected.deinitialize(count: 1)
    collected.deallocate()
  }

  /// Whether anything was changed since `reset`.
  var isEmpty: Bool { collected.pointee.isEmpty }
  /// Whether the transaction changed the schema.
  var hasSchemaChange: Bool { collected.pointee.schemaChanged }
  /// How many changes were gathered.
  var count: Int { collected.pointee.count }
  /// Whether there are tables about which `noteWrites` has to know.
  var notesWrites: Bool { collected.pointee.notesWrites }

  /// Forgets everything; a transaction begins.
  func reset() { collected.pointee.reset() }

  func mark() -> Mark { collected.pointee.mark() }

  /// Drops what was gathered after `mark`.
  ///
  /// A schema change stays noted.
  func rollBack(to mark: Mark) { collected.pointee.rollBack(to: mark) }

  /// Notes that another write's part of the transaction begins: the limit of rows is each one's own.
  ///
  /// - Returns: what to give to `undo` when the part fails.
  func beginPart() -> Part {
    collected.pointee.beginPart()
    return Part(mark: mark(), schemaChanged: hasSchemaChange)
  }

  /// Drops a part as if it had never been, a change of the schema included.
  func undo(_ part: Part) {
    rollBack(to: part.mark)
    collected.pointee.schemaChanged = part.schemaChanged
  }

  func statementWillBegin() -> StatementMark { collected.pointee.mark() }

  func statementDidFail(_ failure: StatementFailure) {
    collected.pointee.statementDidFail(failure, schemaMayFail: schemaMayFail)
  }

  func noteSchemaChanges(of effects: StatementEffects) {
    collected.pointee.noteSchemaChanges(of: effects, readSchema: readSchema)
  }

  /// Records that a whole table may have changed.
  func markWhole(_ name: String) { collected.pointee.markWhole(name) }

  /// Records the virtual tables among those that a statement writes.
  ///
  /// Their shadow tables may be written as late as during COMMIT.
  func noteWrites(of tables: Set<String>) { collected.pointee.noteWrites(of: tables) }

  func willChange(_ change: borrowing PreupdateChange) { collected.pointee.willChange(change) }

  /// What the transaction changed, in the order in which it happened.
  func summary() -> CommitSummary { collected.pointee.summary(readSchema: readSchema) }

  /// Calls `body` with the images of each change that has any, and its place in the summary.
  ///
  /// `body` may run SQL that is not recorded.
  func forEachImage(_ body: (_ place: Int, _ image: RecordedImage) throws -> Void) rethrows {
    // A copy, since what is not recorded comes to the hook nevertheless.
    let collected = collected.pointee
    try collected.forEachImage(body)
  }
}
