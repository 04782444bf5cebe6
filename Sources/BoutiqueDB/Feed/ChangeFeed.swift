import Synchronization

/// The commits of all processes, in commit order.
///
/// Every `for await` loop reads the change log from a position of its own, so a slow loop costs no
/// memory. Where a part of the log is gone, or a program without this library has committed, it gets one
/// change with `isEverything` in that place.
public struct ChangeFeed: AsyncSequence, Sendable {
  /// What the sequence is of.
  public typealias Element = BoutiqueChange
  /// What iterating can throw.
  public typealias Failure = any Error

  // The database itself: it must not close because the caller needs it for nothing else any more.
  let db: BoutiqueDB
  let start: ChangeToken?

  /// Creates a reader of the log.
  ///
  /// Without a token it begins with the first commit after its first `next()`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: FeedReader(db: db, start: start))
  }

  /// One reader of the change log.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FeedReader

    /// Returns the next change, or nil when the task is cancelled.
    ///
    /// - Throws: ``BoutiqueError`` when the log cannot be read, or the database was closed or replaced.
    public mutating func next() async throws -> BoutiqueChange? { try await reader.next() }

    /// Returns the next change, or nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> BoutiqueChange? { try await reader.next() }
  }
}

/// One reader of the change log, as an observer that is told only *that* something changed.
final class FeedReader: ChangeObserver {
  private struct Guarded: Sendable {
    var registration: Int?
    var position: LogPosition?
    var buffer: [BoutiqueChange] = []
    var mayHaveMore = true
    var failure: (any Error)?
    var continuation: CheckedContinuation<Void, Never>?
  }

  /// How many commits are read at a time.
  private static let batchSize = 256

  private let guarded = Mutex(Guarded())
  private let db: BoutiqueDB
  private let start: ChangeToken?

  private var core: OpenDatabase { db.core }

  init(db: BoutiqueDB, start: ChangeToken?) {
    self.db = db
    self.start = start
  }

  deinit {
    if let id = guarded.withLock(\.registration) { core.hub.remove(id) }
  }

  func didChange(_ change: ChangeSet) { signal { $0.mayHaveMore = true } }

  func didEnd(_ error: any Error) { signal { $0.failure = error } }

  private func signal(_ body: (inout Guarded) -> Void) {
    let continuation = guarded.withLock { guarded in
      body(&guarded)
      defer { guarded.continuation = nil }
      return guarded.continuation
    }
    continuation?.resume()
  }

  func next() async throws -> BoutiqueChange? {
    try await begin()
    while !Task.isCancelled {
      let (change, mustRead, failure) = guarded.withLock {
        guarded -> (BoutiqueChange?, Bool, (any Error)?) in
        if !guarded.buffer.isEmpty { return (guarded.buffer.removeFirst(), false, nil) }
        if let failure = guarded.failure { return (nil, false, failure) }
        defer { guarded.mayHaveMore = false }
        return (nil, guarded.mayHaveMore, nil)
      }
      if let change { return change }
      if let failure { throw failure }
      guard mustRead else {
        await waitForChange()
        continue
      }
      do {
        try await read()
      } catch {
        // What was to be read is still there.
        guarded.withLock { $0.mayHaveMore = true }
        if error is CancellationError { return nil }
        throw error
      }
    }
    return nil
  }

  private func begin() async throws {
    guard guarded.withLock({ $0.registration == nil }) else { return }
    try core.checkUsable()
    let id = core.hub.add(self)
    guarded.withLock { $0.registration = id }
    do {
      let position = try await startingPosition()
      guarded.withLock { $0.position = position }
    } catch {
      guarded.withLock { $0.registration = nil }
      core.hub.remove(id)
      throw error
    }
  }

  private func startingPosition() async throws -> LogPosition {
    try await core.hub.activate()
    let start = start
    return try await core.read { connection -> LogPosition in
      let sqlite = connection.sqlite
      guard let start else { return try ChangeReader.head(on: sqlite) }
      return try ChangeReader.position(of: start, on: sqlite)
    }
  }

  private func read() async throws {
    guard let position = guarded.withLock(\.position) else { return }
    let core = core
    let (batch, origins) = try await core.read {
      connection -> (ChangeReader.Batch, [Int64: ChangeOrigin]) in
      let sqlite = connection.sqlite
      // Before the first statement, and so before the snapshot is taken.
      let continuity = core.continuity
      let batch = try ChangeReader.changes(
        after: position, limit: Self.batchSize, continuity: continuity,
        images: ImageReader(on: sqlite), on: sqlite)
      var origins: [Int64: ChangeOrigin] = [:]
      for id in Set(batch.changes.compactMap(\.origin)) {
        let row = try connection.queryOne(
          "SELECT pid, label FROM boutiquedb_origin WHERE id = ?", id)
        if let row { origins[id] = .process(pid: try row.decode(0), label: try row.decode(1)) }
      }
      return (batch, origins)
    }
    let own = core.hub.monitor.withLock(\.ownOrigin)
    guarded.withLock { guarded in
      guarded.position = batch.position
      if batch.hasMore { guarded.mayHaveMore = true }
      guarded.buffer.append(
        contentsOf: batch.changes.lazy.filter { !$0.isEmpty }.map { change in
          let origin: ChangeOrigin =
            change.origin.map { $0 == own ? .thisProcess : origins[$0] ?? .foreign } ?? .foreign
          return BoutiqueChange(change, generation: batch.position.generation, origin: origin)
        })
    }
  }

  private func waitForChange() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let mustWait = guarded.withLock { guarded in
          guard !guarded.mayHaveMore, guarded.failure == nil, !Task.isCancelled else {
            return false
          }
          guarded.continuation = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      signal { _ in }
    }
  }
}

extension BoutiqueDB {
  /// Returns the change feed: one element for each commit of any process, in commit order.
  ///
  /// - Parameter token: where to go on, from an earlier change or from ``currentToken()``; nil begins with
  ///   the first commit after the iteration has begun. When the log no longer reaches back to the token,
  ///   the first change says `isEverything`.
  public func changes(since token: ChangeToken? = nil) -> ChangeFeed {
    ChangeFeed(db: self, start: token)
  }
}
