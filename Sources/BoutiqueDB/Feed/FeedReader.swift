import Synchronization

/// One reader of the change log, as an observer that is told only *that* something changed.
///
/// It reads a batch when its consumer asks and its buffer is empty; so a slow consumer costs the memory of
/// one batch. Commits that changed nothing (the library's own) are left out.
final class FeedReader: ChangeObserver {
  private struct Guarded: Sendable {
    var registration: Int?
    var position: LogPosition?
    var buffer: ArraySlice<BoutiqueChange> = []
    var mayHaveMore = true
    /// Whether a batch is being read, so that the position is about to change.
    var isReading = false
    /// Whether the present has been reached.
    var hasReachedPresent = false
    var failure: (any Error)?
    var continuation: CheckedContinuation<Void, Never>?
    /// What foreign commits become that are not in the log yet.
    var tail = ChangeReader.Tail.awaited
    /// The token after which foreign commits were put into the log last.
    var adoptedAfter: Int64?
  }

  /// How many commits are read at a time.
  static let batchSize = 256

  private let guarded = Mutex(Guarded())
  private let db: BoutiqueDB
  private let endsAtPresent: Bool
  private let start: @Sendable () async throws -> LogPosition
  private let onEnd: @Sendable () -> Void

  private var core: OpenDatabase { db.core }

  /// - Parameters:
  ///   - endsAtPresent: whether the feed is over when it has reached the newest commit.
  ///   - start: finds where to begin; called once it is made sure that changes are heard of.
  ///   - onEnd: called when the database was closed or replaced.
  init(
    db: BoutiqueDB, endsAtPresent: Bool,
    start: @escaping @Sendable () async throws -> LogPosition,
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    self.db = db
    self.endsAtPresent = endsAtPresent
    self.start = start
    self.onEnd = onEnd
  }

  deinit {
    if let id = guarded.withLock(\.registration) { core.hub.remove(id) }
  }

  /// How many changes have been read and not asked for yet.
  var bufferedCount: Int { guarded.withLock(\.buffer.count) }

  // MARK: The hub's thread

  func didChange(_ change: ChangeSet) {
    signal { guarded in
      // A reader that is not asked for changes that were none would fall behind the log's old end.
      if change.isEmpty, !guarded.isReading, let position = guarded.position, position.isLive {
        if change.first == position.token + 1, change.counterBefore == position.counter {
          guarded.position?.token = change.token
          guarded.position?.stamp = change.stamp
          guarded.position?.counter = change.counterAfter
        }
        return false
      }
      guarded.mayHaveMore = true
      return true
    }
  }

  func didEnd(_ error: any Error) {
    onEnd()
    signal { guarded in
      guarded.failure = error
      return true
    }
  }

  /// - Parameter body: says whether to wake the consumer.
  private func signal(_ body: (inout Guarded) -> Bool) {
    let continuation = guarded.withLock { guarded -> CheckedContinuation<Void, Never>? in
      guard body(&guarded) else { return nil }
      defer { guarded.continuation = nil }
      return guarded.continuation
    }
    continuation?.resume()
  }

  // MARK: The consumer

  /// Returns the next change, or nil when the task is cancelled or the feed is over.
  func next() async throws -> BoutiqueChange? {
    try await begin()
    while !Task.isCancelled {
      enum Step {
        case give(BoutiqueChange)
        case fail(any Error)
        case read
        case wait
        case end
      }
      let step = guarded.withLock { guarded -> Step in
        if let change = guarded.buffer.popFirst() { return .give(change) }
        if let failure = guarded.failure { return .fail(failure) }
        if endsAtPresent, guarded.hasReachedPresent { return .end }
        guard guarded.mayHaveMore else { return .wait }
        guarded.mayHaveMore = false
        guarded.isReading = true
        return .read
      }
      switch step {
      case .give(let change): return change
      case .fail(let error): throw error
      case .end: return nil
      case .wait: await waitForChange()
      case .read:
        do {
          try await read()
        } catch {
          // What was to be read is still there.
          guarded.withLock { guarded in
            guarded.mayHaveMore = true
            guarded.isReading = false
          }
          if error is CancellationError { return nil }
          throw error
        }
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
      try await core.hub.activate()
      let position = try await start()
      guarded.withLock { $0.position = position }
    } catch {
      guarded.withLock { $0.registration = nil }
      core.hub.remove(id)
      throw error
    }
  }

  private func read() async throws {
    guard let position = guarded.withLock(\.position) else { return }
    let core = core
    let tail = core.hub.source?.adopter == nil ? .everything : guarded.withLock(\.tail)
    let (batch, origins) = try await core.read {
      connection -> (ChangeReader.Batch, [Int64: ChangeOrigin]) in
      let sqlite = connection.sqlite
      // Before the first statement, and so before the snapshot is taken.
      let presence = core.presence(on: sqlite)
      let batch = try ChangeReader.changes(
        after: position, limit: Self.batchSize, presence: presence,
        images: ImageReader(on: sqlite), tail: tail, on: sqlite)
      return (batch, try ChangeReader.origins(of: batch.changes, on: connection))
    }
    let own = core.hub.monitor.withLock(\.ownOrigin)
    guarded.withLock { guarded in
      guarded.isReading = false
      guarded.position = batch.position
      guarded.tail = .awaited
      if batch.awaitsAdoption {
        if !batch.changes.isEmpty { guarded.mayHaveMore = true }
      } else if batch.hasMore {
        guarded.mayHaveMore = true
      } else {
        guarded.hasReachedPresent = true
      }
      if !batch.awaitsAdoption { guarded.adoptedAfter = nil }
      let changes = batch.changes.filter { !$0.isEmpty }.map { change in
        BoutiqueChange(
          change, generation: batch.position.generation,
          origin: change.origin(own: own, known: origins))
      }
      guarded.buffer = changes[...]
    }
    if batch.awaitsAdoption, batch.changes.isEmpty { adopt(after: batch.position.token) }
  }

  /// Has foreign commits put into the log, and reads on when they are, or cannot be.
  private func adopt(after token: Int64) {
    // When the log has not grown by the last attempt, another will not help.
    guard guarded.withLock({ $0.adoptedAfter != token }), let adopter = core.hub.source?.adopter
    else {
      signal { guarded in
        guarded.mayHaveMore = true
        guarded.tail = .everything
        return true
      }
      return
    }
    adopter.request { [weak self] isAdopted in
      self?.signal { guarded in
        guarded.mayHaveMore = true
        if isAdopted { guarded.adoptedAfter = token } else { guarded.tail = .everything }
        return true
      }
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
      signal { _ in true }
    }
  }
}
