public import StructuredQueries

/// Who made a commit.
public enum ChangeOrigin: Hashable, Sendable {
  /// This open database.
  case thisProcess
  /// Another process (or another open database of this one) that uses this library.
  case process(pid: Int32, label: String)
  /// A program that does not use this library, or one that could not be told.
  case foreign
}

/// One changed row.
public struct RowChange: Hashable, Sendable {
  /// What happened to it.
  public enum Kind: String, Hashable, Sendable, Codable {
    case insert
    case update
    case delete
  }

  /// The table.
  public var table: String
  /// What happened.
  public var kind: Kind
  /// The row id, or the primary key's values for a table without row ids.
  public var key: [SQLValue]
  /// For an update, the positions of the columns whose values changed, in the table's order.
  public var columns: [Int]
  /// The row before an update or a delete; nil when the table's ``CaptureMode`` does not keep it.
  ///
  /// Columns have the names that they have now, by position.
  public var before: Row?
  /// The row after an insert or an update; nil when the table's mode does not keep it.
  public var after: Row?
  /// The columns that an update changed, with their new values; nil without ``CaptureMode/full``.
  public var updates: Row?

  /// Creates a description of a change.
  public init(
    table: String, kind: Kind, key: [SQLValue], columns: [Int] = [], before: Row? = nil,
    after: Row? = nil, updates: Row? = nil
  ) {
    self.table = table
    self.kind = kind
    self.key = key
    self.columns = columns
    self.before = before
    self.after = after
    self.updates = updates
  }
}

/// What one commit changed.
public struct BoutiqueChange: Hashable, Sendable {
  /// The position after this change; pass it to `changes(since:)` to go on from here.
  public var token: ChangeToken
  /// The tables that changed, in the order in which they were first touched.
  ///
  /// Empty when ``isEverything``.
  public var tables: [String]
  /// The rows that are known one by one, in the order in which they changed.
  public var rows: [RowChange]
  /// The tables whose rows are not listed: anything in them may have changed.
  public var wholeTables: Set<String>
  /// Whether anything at all may have changed: a commit of a program that does not use this library, a
  /// restored file, or a part of the log that was pruned.
  public var isEverything: Bool
  /// Who made the commit.
  public var origin: ChangeOrigin
  /// When, in milliseconds since 1970 by the writer's wall clock; nil where unknown.
  ///
  /// Order is the token's, never the clock's.
  public var time: Int64?
}

/// A change inside the library: one commit's, or everything.
struct ChangeSet: Sendable {
  /// The commit's token number, or the last accounted one for `everything`.
  var token: Int64
  /// The commit's first change number.
  var first: Int64
  var summary: CommitSummary
  var isEverything: Bool
  /// The row in the origin table, nil for foreign.
  var origin: Int64?
  var time: Int64?
  /// The WAL index's change counter before the commit; it is one more after.
  var counterBefore: UInt32?
  var counterAfter: UInt32?
  /// The continuity under which it was committed; nil where nobody can vouch.
  var continuity: Int64?
  /// The time of the token's commit, for `everything` that of the last one accounted for.
  var stamp: Int64 { time ?? lastStamp }
  var lastStamp: Int64 = 0
  /// The rows that are kept of its changes, by the changes' places; only a feed reads them.
  var images: [Int: RowImages] = [:]
  /// The summary once more, as regions ask for it.
  var sharedEffects = SharedEffects()

  /// Whether it changed nothing in the end (what a savepoint undid).
  var isEmpty: Bool { !isEverything && summary.tables.isEmpty }

  static func everything(after token: Int64) -> ChangeSet {
    ChangeSet(
      token: token, first: token, summary: CommitSummary(tables: [], changes: []),
      isEverything: true)
  }

  /// Everything, after which a reader stands at `position`.
  static func everything(at position: LogPosition) -> ChangeSet {
    var set = everything(after: position.token)
    set.lastStamp = position.stamp
    set.counterAfter = position.counter
    set.continuity = position.continuity
    return set
  }
}

extension BoutiqueChange {
  init(_ set: ChangeSet, generation: String, origin: ChangeOrigin) {
    token = ChangeToken(
      generation: generation, number: set.token, stamp: set.stamp, counter: set.counterAfter,
      continuity: set.continuity)
    tables = set.summary.tables
    isEverything = set.isEverything
    self.origin = origin
    time = set.time
    rows = []
    wholeTables = []
    for (place, change) in set.summary.changes.enumerated() {
      let table = set.summary.tables[change.table]
      let key: [SQLValue]
      switch change.key {
      case .rowID(let id) where table != CaptureSchema.schemaTable: key = [.integer(id)]
      case .columns(let values): key = values.map(SQLValue.init)
      // Which rows of the schema a change touched is for readers of the log.
      case .whole, .rowID:
        wholeTables.insert(table)
        continue
      }
      let images = set.images[place]
      rows.append(
        RowChange(
          table: table, kind: .init(change.kind), key: key, columns: change.columns,
          before: images?.before, after: images?.after, updates: images?.updates))
    }
  }
}

extension RowChange.Kind {
  init(_ kind: RecordedChange.Kind) {
    switch kind {
    case .insert: self = .insert
    case .update: self = .update
    case .delete: self = .delete
    }
  }
}
