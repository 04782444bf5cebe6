import FaultPoints
import Synchronization

/// The change feed of a durable consumer: it goes on after a restart where it has acknowledged.
///
/// ```swift
/// for try await change in db.changes(since: token, consumer: "mirror") {
///   try await apply(change)
///   try await change.acknowledge()
/// }
/// ```
///
/// Every commit is delivered at least once: what was not acknowledged when the process ended, however it
/// ended, comes again. The records that a consumer has not acknowledged are kept for it, up to
/// `cdcRetention.hardRows`.
public struct ConsumerFeed: AsyncSequence, Sendable {
  /// What the sequence is of.
  public typealias Element = DurableChange
  /// What iterating can throw.
  public typealias Failure = any Error

  let db: BoutiqueDB
  let start: ChangeToken?
  let name: String
  let follows: Bool

  /// Creates the consumer's reader; its first `next()` takes the name.
  public func makeAsyncIterator() -> Iterator {
    let box = SessionBox()
    let (db, start, name) = (db, start, name)
    return Iterator(
      reader: FeedReader(db: db, endsAtPresent: !follows) {
        let (session, position) = try await ConsumerSession.begin(name, start: start, db: db)
        box.session.withLock { $0 = session }
        return position
      } onEnd: {
        // The name, and the lock file's descriptor, must not outlive the database.
        box.session.withLock { $0 }?.cursor.end()
      }, box: box)
  }

  /// One reader of the change log.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FeedReader
    let box: SessionBox

    /// How many changes have been read ahead of the caller; bounded.
    package var bufferedCount: Int { reader.bufferedCount }

    /// Returns the next change, or nil when the task is cancelled or the feed is over.
    ///
    /// - Throws: ``BoutiqueError/consumerInUse(_:)`` when somebody else consumes under the name, other
    ///   ``BoutiqueError``s when the log cannot be read, or the database was closed or replaced.
    public mutating func next() async throws -> DurableChange? { try await box.next(reader) }

    /// Returns the next change, or nil when the task is cancelled or the feed is over.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> DurableChange? { try await box.next(reader) }
  }
}

/// Where a feed keeps its session once it has begun.
final class SessionBox: Sendable {
  let session = Mutex<ConsumerSession?>(nil)

  fileprivate func next(_ reader: FeedReader) async throws -> DurableChange? {
    if let error = session.withLock({ $0?.cursor.takeFailure() }) { throw error }
    guard let change = try await reader.next(), let session = session.withLock({ $0 }) else {
      return nil
    }
    let durable = DurableChange(
      change: change, session: session, ordinal: session.cursor.deliver())
    if Sabotage.earlyCursor.isOn { try await durable.acknowledge() }
    FaultPoint.reach(.beforeDelivery)
    return durable
  }
}

/// A change that a durable consumer has to acknowledge.
@dynamicMemberLookup
public struct DurableChange: Sendable {
  /// The change.
  public let change: BoutiqueChange
  private let session: ConsumerSession
  private let ordinal: Int

  init(change: BoutiqueChange, session: ConsumerSession, ordinal: Int) {
    self.change = change
    self.session = session
    self.ordinal = ordinal
  }

  /// A property of the change.
  public subscript<Value>(dynamicMember path: KeyPath<BoutiqueChange, Value>) -> Value {
    change[keyPath: path]
  }

  /// Says that this change and all before it are dealt with, and returns when that is committed.
  ///
  /// Doing so again, or for an earlier change, does nothing. Acknowledgements that wait at the same time
  /// share one commit. Each one that is waited for by itself is a commit; where that is too much,
  /// acknowledge every so many changes, or ``acknowledgeSoon()``.
  ///
  /// - Throws: ``BoutiqueError/consumerInUse(_:)`` when the name belongs to somebody else by now, other
  ///   ``BoutiqueError``s as `write` does; the change then stays unacknowledged, and may be acknowledged again.
  public func acknowledge() async throws {
    try await session.cursor.acknowledge(ordinal, change.token)
  }

  /// Says that this change and all before it are dealt with, without waiting until that is committed.
  ///
  /// While one is being written, later ones gather, and the newest is written next. Until then a death
  /// brings the changes again. An error is thrown by the feed's next `next()`.
  public func acknowledgeSoon() {
    session.cursor.note(ordinal, change.token)
  }

  /// How many times the cursor has been written since the session began.
  package var acknowledgementWrites: Int { session.cursor.writeCount }
}

extension BoutiqueDB {
  /// Returns the change feed of a durable consumer, whose position is kept in the database.
  ///
  /// - Parameters:
  ///   - token: where a consumer begins that the database does not know yet: ``oldestToken()`` for all that
  ///     is kept, nil for the first commit after the iteration has begun. A known one goes on after what it
  ///     has acknowledged.
  ///   - consumer: its name, under which one feed at a time may run in all processes.
  ///   - following: whether to wait for new commits; false ends the sequence when the newest commit is
  ///     reached.
  public func changes(
    since token: ChangeToken? = nil, consumer: String, following: Bool = true
  ) -> ConsumerFeed {
    ConsumerFeed(db: self, start: token, name: consumer, follows: following)
  }
}
