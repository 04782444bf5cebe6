import BoutiqueDB
import Synchronization

// The models and results that one database remembers.
//
// For: reads that need no statement, and yet are never older than a commit that had returned, in whichever
// program, before the read began.
//
// Invariants
//  1. Everything in here is as it was at one position of the change log (`position`), with all commits of
//     anybody accounted for up to it.
//  2. An answer from memory is given only when the position is proven to be the present, in one of two
//     ways: the engine's mark of the newest commit is the one that belongs to the position; or a snapshot,
//     taken after the read began, and all that was committed between the position and it, have been read
//     and applied. No bell and no feed is trusted: they may be late.
//  3. What is read is put in only at the position of the snapshot that it was read in.
//  4. A row that was just written is put in when the commit's record says that its one change was this one.
//     Before a commit nothing is put in, and inside transactions the cache is not asked.
//
// Two reads at once: both apply the same commits, or one finds that the other has gone further. Then it gives
// what it has read and puts nothing in.

/// A value in its box: a nil that was read is not to be taken for nothing known.
private struct CachedValue<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// The models and results that one database remembers.
final class ModelCache: Sendable {
  fileprivate struct State {
    var tables: [String: CacheEntries] = [:]
    /// The name of each table as it was first given.
    var names: [String: String] = [:]
    var position: ChangeToken?
    var mark: CommitMark?
    var layouts: TableLayouts?
    /// Counts the moves of the position.
    var moves = 0
  }

  private let state = Mutex(State())
  private let hitsInARow = Atomic<UInt>(0)

  // MARK: Asking

  /// Returns the answer that is in memory, where it is proven current without asking the database.
  func proven<R: Sendable>(
    _ request: CacheRequest, in database: Blackbird.Database
  ) async throws -> R? {
    try Task.checkCancellation()
    guard let mark = database.openEngine?.commitMark,
      let known = known(request, at: mark) as? CachedValue<R>
    else { return nil }
    log(database, "hit", request)
    // Whoever asks in a loop would never let anybody else have the thread.
    if hitsInARow.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 64) {
      await Task.yield()
    }
    return known.value
  }

  /// Returns the answer to a question, from memory where a snapshot proves it current, else from that snapshot.
  ///
  /// - Parameters:
  ///   - weight: how many models a value holds.
  ///   - read: reads it; called on a reader's thread.
  func value<R: Sendable>(
    for request: CacheRequest, in database: Blackbird.Database,
    weight: @escaping @Sendable (R) -> Int,
    read: @escaping @Sendable (isolated Blackbird.Database.Core) throws -> R
  ) async throws -> R {
    let engine = try await database.engine()
    let (position, moves) = state.withLock { ($0.position, $0.moves) }
    return try await Blackbird.Database.Error.translating {
      try await engine.read(since: position) { [self] connection, recent in
        let isCurrent = try catchUp(with: recent, since: moves, on: connection)
        if isCurrent, let known = known(request) as? CachedValue<R> {
          log(database, "hit", request)
          return known.value
        }
        log(database, "miss", request)
        let value = try Blackbird.Database.Core.run(on: connection, of: database, read)
        insert(CachedValue(value), for: request, weight: weight(value), at: recent.token)
        return value
      }
    }
  }

  /// Takes the first position, from which on written rows can be confirmed.
  func begin(on engine: BoutiqueDB) async throws {
    let (isThere, moves) = state.withLock { ($0.position != nil, $0.moves) }
    if isThere { return }
    try await engine.read(since: nil) { [self] connection, now in
      _ = try catchUp(with: now, since: moves, on: connection)
    }
  }

  /// Notes the row that a commit has left.
  ///
  /// - Parameter token: the commit's.
  func noteWritten<T: BlackbirdModel>(_ row: T, key: [Blackbird.Value], at token: ChangeToken) {
    guard T.cacheLimit > 0 else { return }
    // As a read would give it.
    let value = CachedValue<T?>(row)
    state.withLock { state in
      if let position = state.position,
        position.generation != token.generation
          || position.number >= token.number
      {
        return
      }
      state.entries(of: T.tableName, limit: T.cacheLimit) {
        $0.noteWritten(value, key, ObjectIdentifier(T.self), token)
      }
    }
  }

  private func known(_ request: CacheRequest, at mark: CommitMark) -> (any Sendable)? {
    state.withLock { $0.mark == mark ? $0.known(request) : nil }
  }

  private func known(_ request: CacheRequest) -> (any Sendable)? {
    state.withLock { state in
      let found = state.known(request)
      if found == nil { state.entries(of: request.table) { $0.metrics.misses += 1 } }
      return found
    }
  }

  /// Brings what is remembered to the position of a snapshot.
  ///
  /// - Parameter moves: how often the position had moved when it was taken for the question.
  /// - Returns: whether all that is remembered is as in the snapshot.
  private func catchUp(
    with recent: RecentChanges, since moves: Int, on connection: BoutiqueConnection
  ) throws -> Bool {
    let mustLook = state.withLock { state in
      state.moves == moves
        && (state.layouts == nil
          || recent.changes.contains { $0.isEverything || $0.changesSchema })
    }
    // Outside the lock, in the same snapshot.
    let layouts = mustLook ? try TableLayouts(on: connection) : nil
    return state.withLock { state in
      guard state.moves == moves else { return state.isAt(recent.token) }
      if let layouts {
        state.layouts = layouts
        for name in state.tables.keys { state.tables[name]?.dropAll(butWritten: true) }
      }
      for change in recent.changes {
        if change.isEverything || change.changesSchema {
          for name in state.tables.keys {
            state.tables[name]?.dropAll(butWritten: true)
            state.tables[name]?.dropWritten(upTo: change.token)
          }
        } else {
          // After the last change of the schema the tables are as in the snapshot; what comes before is
          // dropped with it.
          state.apply(change)
        }
      }
      for name in state.tables.keys { state.tables[name]?.dropWritten(upTo: recent.token) }
      if !state.isAt(recent.token) { state.moves += 1 }
      state.position = recent.token
      state.mark = recent.mark
      return true
    }
  }

  private func insert(
    _ value: any Sendable, for request: CacheRequest, weight: Int, at token: ChangeToken
  ) {
    state.withLock { state in
      guard state.isAt(token) else { return }
      state.entries(of: request.table, limit: request.limit) {
        $0.insert(value, for: request.name, weight: weight)
      }
    }
  }

  // MARK: Metrics

  var metrics: [String: Blackbird.CachePerformanceMetrics] {
    state.withLock { state in
      var metrics: [String: Blackbird.CachePerformanceMetrics] = [:]
      for (name, entries) in state.tables { metrics[state.names[name] ?? name] = entries.metrics }
      return metrics
    }
  }

  func resetMetrics(_ table: String) {
    state.withLock { $0.tables[table.lowercased()]?.metrics = .init() }
  }

  func flush(_ table: String?) {
    state.withLock { state in
      for name in state.tables.keys where table.map({ $0.lowercased() == name }) ?? true {
        state.tables[name]?.dropAll()
      }
    }
  }

  private func log(_ database: Blackbird.Database, _ what: String, _ request: CacheRequest) {
    guard database.options.contains(.debugPrintCacheActivity) else { return }
    switch request.name.question {
    case .row(let key):
      let key = key.map { $0.sqliteLiteral() }.joined(separator: ", ")
      Blackbird.log("[Blackbird.Database] cache \(what): \(request.table) \(key)")
    case .query(.text(let sql), _):
      Blackbird.log("[Blackbird.Database] cache \(what): \(sql)")
    case .query: break
    }
  }
}

extension ModelCache: DatabaseAttachment {}

extension Blackbird.Database {
  /// The models and results that this database remembers.
  var modelCache: ModelCache { attachments.get { ModelCache() } }
}

extension ModelCache.State {
  fileprivate mutating func entries<R>(
    of table: String, limit: Int? = nil, _ body: (inout CacheEntries) -> R
  ) -> R {
    let name = table.lowercased()
    if tables[name] == nil { names[name] = table }
    var entries = tables.removeValue(forKey: name) ?? CacheEntries()
    if let limit { entries.limit = max(entries.limit, limit) }
    defer { tables[name] = entries }
    return body(&entries)
  }

  fileprivate mutating func known(_ request: CacheRequest) -> (any Sendable)? {
    entries(of: request.table) { entries in
      let value = entries.value(of: request.name)
      if value != nil { entries.metrics.hits += 1 }
      return value
    }
  }

  /// Whether this is exactly the position, with what it says of other programs' commits.
  fileprivate func isAt(_ token: ChangeToken) -> Bool {
    position?.description == token.description
  }

  fileprivate mutating func apply(_ change: BoutiqueChange) {
    for table in change.wholeTables {
      tables[table.lowercased()]?.dropAll(butWritten: true)
      tables[table.lowercased()]?.dropWritten(upTo: change.token)
    }
    let touched = Set(change.rows.map { $0.table.lowercased() })
    for table in touched where tables[table] != nil {
      let keysAreKnown = layouts?.layout(of: table, at: .max)?.key == .primaryKey
      tables[table]?.apply(
        change.rows.lazy.filter { $0.table.lowercased() == table }, keysAreKnown: keysAreKnown,
        at: change.token)
    }
  }
}
