import BoutiqueDB
import Foundation
import Synchronization

/// A change feed, replayed into a copy of every table.
///
/// For each change only what it names is read again: rows by key, of an update only the columns named, whole
/// tables, or everything. So the copy is right in the end only if the feed has named all that has changed.
/// Checked here, change by change: tokens rise, no commit comes twice, and who made it is told rightly.
final class FeedReplay: Sendable {
  private struct State: Sendable {
    var copies: [String: TableCopy]?
    /// Whether it knows where to begin.
    var hasBegun = false
    var token: ChangeToken?
    /// The entries of the ledger that this reader has seen inserted.
    var seen: Set<String> = []
    var changes = 0
    var everythings = 0
  }

  /// What a durable feed keeps.
  private struct Kept: Codable {
    var token: ChangeToken
    var copies: [String: TableCopy]
  }

  let plan: FeedPlan
  private let file: String
  private let scenario: Scenario
  private let channel: WorkerChannel
  private let state = Mutex(State())

  init(plan: FeedPlan, file: String, scenario: Scenario, channel: WorkerChannel) {
    self.plan = plan
    self.file = file
    self.scenario = scenario
    self.channel = channel
  }

  /// How many changes there were, and how many of them were of everything.
  var counts: (Int, Int) { state.withLock { ($0.changes, $0.everythings) } }

  /// The number of the last token, or what is below all of them.
  var position: Int64 { state.withLock { $0.token?.number ?? -1 } }

  /// Whether it knows where to begin.
  var hasBegun: Bool { state.withLock(\.hasBegun) }

  /// Returns the copies; nil when there are none yet.
  func state(isFull: Bool) -> [String: CopyState]? {
    state.withLock { $0.copies?.mapValues { $0.state(isFull: isFull) } }
  }

  /// Follows until the task is cancelled or the database ends.
  func run(on db: BoutiqueDB) async {
    do {
      var since = try await start(on: db)
      state.withLock { $0.hasBegun = true }
      while !Task.isCancelled {
        let leftOff = try await follow(db.changes(since: since), on: db)
        guard leftOff else { return }
        since = state.withLock(\.token) ?? since
        try await Task.sleep(for: .milliseconds(plan.pause))
      }
    } catch {
      if Task.isCancelled { return }
      switch error {
      case BoutiqueError.closed, BoutiqueError.fileReplaced: return
      default: channel.violation(.error, "feed \(plan.id) failed: \(error)")
      }
    }
  }

  /// Prepares copy and token.
  private func start(on db: BoutiqueDB) async throws -> ChangeToken? {
    switch plan.kind {
    case .durable:
      if let data = FileManager.default.contents(atPath: file),
        let kept = try? JSONDecoder().decode(Kept.self, from: data)
      {
        state.withLock {
          $0.copies = kept.copies
          $0.token = kept.token
          $0.seen = []
        }
        return kept.token
      }
    case .resuming:
      if let token = state.withLock(\.token) { return token }
    case .live: break
    }
    if plan.kind == .live, plan.id.isMultiple(of: 2) {
      // From the first commit after now; the copy is made when it comes.
      state.withLock { $0 = State(changes: $0.changes, everythings: $0.everythings) }
      return nil
    }
    // In this order: what is committed in between is in the copy, and is named again.
    let token = try await db.currentToken()
    let copies = try await db.read { try TableCopy.all(on: $0) }
    state.withLock {
      $0.copies = copies
      $0.token = token
      $0.seen = []
    }
    keep()
    return token
  }

  /// Follows one reader of the feed; returns whether it has left off to go on later.
  private func follow(_ feed: ChangeFeed, on db: BoutiqueDB) async throws -> Bool {
    var iterator = feed.makeAsyncIterator()
    var count = 0
    while true {
      let wasCancelled = Task.isCancelled
      guard let change = try await iterator.next() else { return false }
      if wasCancelled {
        channel.violation(.cancellation, "feed \(plan.id) delivered to a cancelled consumer")
      }
      // In this order: what a cancellation keeps from being applied is delivered again to the next reader.
      try await apply(change, on: db)
      check(change)
      if scenario.plant == .repeatedChange { check(change) }
      count += 1
      if count.isMultiple(of: plan.every) {
        keep()
        if plan.kind == .resuming { return true }
      }
      if plan.pause > 0 { try await Task.sleep(for: .milliseconds(plan.pause)) }
    }
  }

  // MARK: Checks

  private func check(_ change: BoutiqueChange) {
    let entries = change.rows.filter { $0.table == Ledger.name && $0.kind == .insert }
    state.withLock { state in
      if let last = state.token, last.generation == change.token.generation {
        let isLater =
          change.isEverything
          ? change.token.number >= last.number : change.token.number > last.number
        if !isLater {
          channel.violation(
            .token, "feed \(plan.id): token \(change.token) does not follow \(last)")
        }
      }
      // Tables with row ids do not say what was inserted; the text of the key does.
      for case .text(let entry)? in entries.map(\.key.first) {
        if !state.seen.insert(entry).inserted {
          channel.violation(.token, "feed \(plan.id) gave the commit of \(entry) twice")
        }
        checkOrigin(scenario.plant == .wrongOrigin ? .foreign : change.origin, of: entry)
      }
      state.token = change.token
    }
  }

  private func checkOrigin(_ origin: ChangeOrigin, of entry: String) {
    let writer = String(entry.prefix { $0 != "/" })
    guard let plan = scenario.process(writer) else { return }
    let isRight =
      switch origin {
      // Also of this name: of the time before the database was opened again.
      case .process(_, let label): label == writer
      case .foreign: plan.role != .library
      case .thisProcess: writer == self.plan.observer
      }
    if !isRight {
      channel.violation(.origin, "feed \(self.plan.id): \(entry) is said to be of \(origin)")
    }
  }

  // MARK: The copy

  private func apply(_ change: BoutiqueChange, on db: BoutiqueDB) async throws {
    state.withLock {
      $0.changes += 1
      if change.isEverything { $0.everythings += 1 }
    }
    let known = state.withLock(\.copies)
    var change = change
    var skipped: Int?
    switch scenario.plant {
    case .droppedChange where !change.isEverything && known != nil:
      // All of the ledger, so that no later change of the same row makes up for it.
      change.rows.removeAll { $0.table == Ledger.name }
      change.wholeTables.remove(Ledger.name)
    case .droppedColumn: skipped = 1
    default: break
    }
    let (applied, left) = (change, skipped)
    let copies = try await db.read { connection -> [String: TableCopy] in
      guard var copies = known, !applied.isEverything else {
        return try TableCopy.all(on: connection)
      }
      for table in applied.wholeTables where TableCopy.isFollowed(table) {
        copies[table] = try TableCopy(table, on: connection)
      }
      for row in applied.rows where !applied.wholeTables.contains(row.table) {
        // A table that is not there is gone again, or was named as a whole in the same change.
        do {
          try copies[row.table]?.refresh(row, leavingOut: left, on: connection)
        } catch BoutiqueError.sql {
          // Dropped or altered meanwhile; the change that says so is still to come.
        }
      }
      return copies
    }
    state.withLock { $0.copies = copies }
  }

  /// Writes copy and token to the file, both or neither.
  private func keep() {
    guard plan.kind == .durable else { return }
    let kept = state.withLock { state -> Kept? in
      guard let token = state.token, let copies = state.copies else { return nil }
      return Kept(token: token, copies: copies)
    }
    guard let kept, let data = try? JSONEncoder().encode(kept) else { return }
    try? data.write(to: URL(filePath: file), options: .atomic)
  }
}
