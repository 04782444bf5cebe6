import BoutiqueDB
import Synchronization

// Where the changes of one database come in, and everybody who wants to hear of them is told.
//
// For: one feed of the engine, whatever the number of publishers and live wrappers, and none while there
// are none.
//
// Invariants
//  1. Whoever has subscribed hears of every commit that any process begins after `subscribe` has returned;
//     it may hear more.
//  2. `subscribe` takes the engine's mark of the newest commit, and the log says later which position that
//     was. A first subscriber starts the feed there; one that comes while it runs hears what the feed gives
//     from then on, less what was committed before it came. Where the log cannot tell the position, it is told
//     that anything may have changed.
//  3. This database's own writes wait until that is settled: where there are no marks (in memory) they are the
//     only ones.
//  4. Nothing here runs when there is no subscriber: the feed's task is cancelled with the last.
//  5. Columns are named by the tables as they were at the commit; where that is not known, all columns count.
//
// Steps: `subscribe` notes the subscriber and the mark → a task finds the position and reads the tables
// (`start`) → the feed's task (`run`) takes one commit after the other and tells everybody under the
// lock. Subscribers answer at once: they put into a mailbox or set a flag.

/// Somebody who is told of changes; kept by its subscription.
protocol ChangeSubscriber: AnyObject, Sendable {
  /// Called for each commit, under a lock; must return at once and call nothing here.
  func receive(_ change: TranslatedChange)
  /// Called once when nothing more will come, because of an error.
  func end(_ error: any Error)
}

/// One database's changes and who hears of them.
package final class ChangeCenter: Sendable {
  fileprivate enum Start: Sendable {
    /// Waits for the position of the moment at which it came.
    case waiting(ChangePlaces.Moment)
    /// Hears what comes after this position; all of it where nil.
    case after(Int64?)
  }

  fileprivate struct Entry: Sendable {
    let subscriber: any ChangeSubscriber
    var start: Start
  }

  fileprivate struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0
    /// Gives positions to those who wait for one.
    var starting: Task<Void, Never>?
    var feed: Task<Void, Never>?
    /// Which feed it is; what an earlier one still brings is not told.
    var feedNumber = 0
    var layouts: TableLayouts?
  }

  private let state = Mutex(State())

  /// How many subscribers there are.
  package var subscriberCount: Int { state.withLock(\.entries.count) }
  /// Whether a feed runs.
  package var isFollowing: Bool { state.withLock { $0.feed != nil } }

  // MARK: Subscribers

  /// Tells a subscriber of all commits from now on.
  ///
  /// - Returns: what to give to `remove`.
  func add(_ subscriber: any ChangeSubscriber, of database: Blackbird.Database) -> Int {
    let moment = ChangePlaces.Moment.now(of: database)
    return state.withLock { state in
      state.lastID += 1
      state.entries[state.lastID] = Entry(subscriber: subscriber, start: .waiting(moment))
      if state.starting == nil {
        state.starting = Task.detached { await self.start(database) }
      }
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    let (entry, feed) = state.withLock { state in
      let entry = state.entries.removeValue(forKey: id)
      return (entry, state.entries.isEmpty ? state.takeFeed() : nil)
    }
    feed?.cancel()
    // Outside the lock: it may be the last to hold what its own end takes apart.
    _ = entry
  }

  /// Returns when all who have subscribed have their position.
  func untilStarted() async {
    while let starting = state.withLock(\.starting) { await starting.value }
  }

  /// Tells everybody that anything may have changed.
  func reportEverything() {
    state.withLock { state in
      let change = TranslatedChange(everythingFrom: .thisProcess)
      for entry in state.entries.values { entry.subscriber.receive(change) }
    }
  }

  // MARK: Starting

  private func start(_ database: Blackbird.Database) async {
    while true {
      let waiting = state.withLock { state -> [Int: ChangePlaces.Moment] in
        let waiting = state.waiting
        if waiting.isEmpty { state.starting = nil }
        return waiting
      }
      if waiting.isEmpty { return }
      do {
        let engine = try await database.openedEngine()
        let places = try await places(of: waiting, in: engine)
        let (now, layouts) = try await engine.read(since: places.start) { connection, recent in
          var layouts = try TableLayouts(on: connection)
          let isSame = !recent.changes.contains { $0.isEverything || $0.changesSchema }
          layouts.from = isSame ? 0 : recent.token.number
          return (recent.token, layouts)
        }
        admit(places, places.start ?? now, layouts, engine, database)
      } catch {
        let ended = state.withLock { state in
          waiting.keys.compactMap { state.entries.removeValue(forKey: $0)?.subscriber }
        }
        let translated = Self.translated(error)
        for subscriber in ended { subscriber.end(translated) }
      }
    }
  }

  /// Finds out which commit was the newest one when each of the waiting came.
  private func places(
    of waiting: [Int: ChangePlaces.Moment], in engine: BoutiqueDB
  ) async throws -> ChangePlaces {
    let now = try await engine.read(since: nil) { _, now in now }
    var tokens: [CommitMark: ChangeToken?] = [:]
    for mark in Set(waiting.values.compactMap(\.mark)) {
      // Nobody has committed since; or somebody has, while this was on its way.
      tokens[mark] = mark == now.mark ? now.token : try await engine.token(at: mark)
    }
    return ChangePlaces(
      waiting.mapValues { moment in
        switch moment {
        case .mark(let mark): tokens[mark] ?? nil
        case .alone: now.token
        case .unknown: nil
        }
      })
  }

  /// Gives subscribers their places, and starts the feed where there is none.
  private func admit(
    _ places: ChangePlaces, _ start: ChangeToken, _ layouts: TableLayouts, _ engine: BoutiqueDB,
    _ database: Blackbird.Database
  ) {
    state.withLock { state in
      let isFirst = state.feed == nil
      for (id, place) in places.tokens {
        guard case .waiting = state.entries[id]?.start else { continue }
        // A feed that runs already stands at or before the moment at which this one came.
        state.entries[id]?.start = .after(place?.number)
        if isFirst, !places.isReached(place, from: start) {
          state.entries[id]?.subscriber.receive(TranslatedChange(everythingFrom: .foreign))
        }
      }
      // All may have gone meanwhile.
      guard isFirst, !state.entries.isEmpty else { return }
      state.layouts = layouts
      state.feedNumber += 1
      let number = state.feedNumber
      let prints = database.options.contains(.debugPrintEveryReportedChange)
      state.feed = Task.detached { [weak self] in
        var iterator = engine.changes(since: start).makeAsyncIterator()
        while let self, await follow(&iterator, engine, number: number, prints: prints) {}
      }
    }
  }

  // MARK: Following

  /// Takes one commit from the feed and tells everybody.
  ///
  /// - Returns: whether the feed goes on.
  private func follow(
    _ iterator: inout ChangeFeed.Iterator, _ engine: BoutiqueDB, number: Int, prints: Bool
  ) async -> Bool {
    var attempts = 0
    while true {
      do {
        guard let change = try await iterator.next() else { return false }
        let silent = await followSchema(change, engine, number: number)
        await tell(change, silent: silent, number: number, prints: prints)
        return !Task.isCancelled
      } catch {
        attempts += 1
        // Passing trouble: the position has not moved, nothing is skipped.
        guard error.mayPass, attempts < 20 else {
          end(error, number: number)
          return false
        }
        try? await Task.sleep(for: .milliseconds(50 * attempts))
        if Task.isCancelled { return false }
      }
    }
  }

  /// Looks at the tables again when a commit may have changed them.
  ///
  /// - Returns: the tables that were made by it and are empty.
  private func followSchema(
    _ change: BoutiqueChange, _ engine: BoutiqueDB, number: Int
  ) async -> Set<String> {
    guard change.isEverything || change.changesSchema else { return [] }
    let before = state.withLock { $0.feedNumber == number ? $0.layouts : nil }
    let made = change.wholeTables.filter { before?.tables[$0.lowercased()] == nil }
    let found = try? await engine.read(since: change.token) { connection, later in
      var layouts = try TableLayouts(on: connection)
      let isSame = !later.changes.contains { $0.isEverything || $0.changesSchema }
      layouts.from = isSame ? change.token.number : later.token.number
      let empty = try made.filter { table in
        try before != nil && layouts.tables[table.lowercased()] != nil
          && later.count(of: table, on: connection) == 0
      }
      return (layouts, Set(empty.map { $0.lowercased() }))
    }
    state.withLock { state in
      guard state.feedNumber == number else { return }
      state.layouts = found?.0
    }
    return found?.1 ?? []
  }

  private func tell(
    _ change: BoutiqueChange, silent: Set<String>, number: Int, prints: Bool
  ) async {
    while true {
      // Whoever has come has a position first, so that it is told what is after it.
      await untilStarted()
      let isTold = state.withLock { state -> Bool in
        guard state.feedNumber == number else { return true }
        guard state.waiting.isEmpty else { return false }
        let translated = TranslatedChange(change, layouts: state.layouts, silent: silent)
        for entry in state.entries.values where entry.hears(translated) {
          entry.subscriber.receive(translated)
        }
        if prints { Self.log(translated) }
        return true
      }
      if isTold { return }
    }
  }

  private func end(_ error: any Error, number: Int) {
    let entries = state.withLock { state -> [Int: Entry] in
      guard state.feedNumber == number else { return [:] }
      state.feed = nil
      state.layouts = nil
      defer { state.entries = [:] }
      return state.entries
    }
    let translated = Self.translated(error)
    for entry in entries.values { entry.subscriber.end(translated) }
  }

  // MARK: Errors and log

  private static func translated(_ error: any Error) -> any Error {
    (error as? BoutiqueError).map { Blackbird.Database.Error($0) } ?? error
  }

  private static func log(_ change: TranslatedChange) {
    if change.isEverything {
      return Blackbird.log("[Blackbird.Database] anything may have changed")
    }
    for table in change.all {
      let keys = table.primaryKeys.map { "\($0.count)" } ?? "any number of"
      let columns = table.columnNames.map { $0.sorted().joined(separator: ", ") } ?? "all columns"
      Blackbird.log(
        "[Blackbird.Database] \(table.table): \(keys) rows changed (\(columns)), by \(table.origin)"
      )
    }
  }
}

extension RecentChanges {
  /// Returns how many rows a table had before these changes; nil where they do not tell.
  fileprivate func count(of table: String, on connection: BoutiqueConnection) throws -> Int? {
    var found = 0
    for change in changes {
      guard !change.isEverything, !change.wholeTables.contains(table) else { return nil }
      for row in change.rows where row.table == table {
        switch row.kind {
        case .insert: found -= 1
        case .delete: found += 1
        case .update: break
        }
      }
    }
    return try connection.queryOne("SELECT count(*) FROM \(SQLName.quoted(table))").map {
      found + (try $0.decode(0))
    }
  }
}

extension ChangeCenter.State {
  /// Those who have no place yet, with the newest commit at their coming.
  fileprivate var waiting: [Int: ChangePlaces.Moment] {
    entries.compactMapValues { entry in
      if case .waiting(let moment) = entry.start { moment } else { nil }
    }
  }

  fileprivate mutating func takeFeed() -> Task<Void, Never>? {
    // What is told by a feed that was cancelled is not for those who come later.
    feedNumber += 1
    layouts = nil
    defer { feed = nil }
    return feed
  }
}

extension ChangeCenter.Entry {
  fileprivate func hears(_ change: TranslatedChange) -> Bool {
    guard case .after(let position) = start, let position else { return true }
    // Commits of other programs have no numbers of their own.
    return change.isEverything || change.token > position
  }
}

/// One subscriber's place; it ends with this object.
final class ChangeSubscription: Sendable {
  private let center: ChangeCenter
  // The database itself: it must not close because nobody else needs it any more.
  private let database: Blackbird.Database
  private let id: Mutex<Int?>

  init(_ subscriber: any ChangeSubscriber, of database: Blackbird.Database) {
    self.database = database
    center = database.changes
    id = Mutex(database.changes.add(subscriber, of: database))
  }

  deinit { cancel() }

  func cancel() {
    let id = id.withLock { id in
      defer { id = nil }
      return id
    }
    if let id { center.remove(id) }
  }
}
