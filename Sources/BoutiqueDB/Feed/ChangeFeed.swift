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
  let follows: Bool

  /// Creates a reader of the log.
  ///
  /// Without a token it begins with the first commit after its first `next()`.
  public func makeAsyncIterator() -> Iterator {
    let core = db.core
    let start = start
    return Iterator(
      reader: FeedReader(db: db, endsAtPresent: !follows) {
        try await core.read { connection -> LogPosition in
          let sqlite = connection.sqlite
          guard let start else {
            let presence = core.presence(on: sqlite)
            return try ChangeReader.head(continuity: presence.continuity, on: sqlite)
          }
          return try ChangeReader.position(of: start, on: sqlite)
        }
      })
  }

  /// One reader of the change log.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FeedReader

    /// How many changes have been read ahead of the caller; bounded.
    package var bufferedCount: Int { reader.bufferedCount }

    /// Returns the next change, or nil when the task is cancelled or the feed is over.
    ///
    /// - Throws: ``BoutiqueError`` when the log cannot be read, or the database was closed or replaced.
    public mutating func next() async throws -> BoutiqueChange? { try await reader.next() }

    /// Returns the next change, or nil when the task is cancelled or the feed is over.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> BoutiqueChange? { try await reader.next() }
  }
}

extension BoutiqueDB {
  /// Returns the change feed: one element for each commit of any process, in commit order.
  ///
  /// - Parameters:
  ///   - token: where to go on, from an earlier change, ``currentToken()`` or ``oldestToken()``; nil begins
  ///     with the first commit after the iteration has begun. When the log no longer reaches back to the
  ///     token, the first change says `isEverything`.
  ///   - following: whether to wait for new commits; false ends the sequence when the newest commit is
  ///     reached.
  public func changes(since token: ChangeToken? = nil, following: Bool = true) -> ChangeFeed {
    ChangeFeed(db: self, start: token, follows: following)
  }
}
