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

  let core: OpenDatabase
  let start: ChangeToken?

  /// Creates a reader of the log.
  ///
  /// Without a token it begins with the first commit after its first `next()`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: FeedReader(core: core, start: start))
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
  private let core: OpenDatabase
  private let start: ChangeToken?

  init(core: OpenDatabase, start: ChangeToken?) {
    self.core = core
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
      if mustRead { try await read() } else { await waitForChange() }
    }
    return nil
  }

  private func begin() async throws {
    guard guarded.withLock({ $0.registration == nil }) else { return }
    try core.checkUsable()
    let id = core.hub.add(self)
    guarded.withLock { $0.registration = id }
    try await core.hub.activate()
    let start = start
    let position = try await core.read { connection -> LogPosition in
      let sqlite = connection.sqlite
      guard let start else { return try ChangeReader.head(on: sqlite) }
      return LogPosition(
        generation: start.generation, token: start.number,
        counter: try ChangeReader.counterAfter(start.number, on: sqlite))
    }
    guarded.withLock { $0.position = position }
  }

  private func read() async throws {
    guard let position = guarded.withLock(\.position) else { return }
    let core = core
    let (batch, origins) = try await core.read {
      connection -> (ChangeReader.Batch, [Int64: ChangeOrigin]) in
      let sqlite = connection.sqlite
      let batch = try ChangeReader.changes(after: position, limit: Self.batchSize, on: sqlite)
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
        contentsOf: batch.changes.map { change in
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
    ChangeFeed(core: core, start: token)
  }
}
