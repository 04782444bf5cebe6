/// The values of a query over time: the first at once, then one for each visible change.
///
/// Every `for await` loop is an observer of its own. Values come in commit order, bursts are coalesced,
/// equal values of `Equatable` types are delivered once. A loop that is slow gets the newest state next,
/// not a backlog. An error of the query is thrown by `next()`; an iterator that is kept can be asked
/// again, and goes on when the query works again (a table that was dropped is back). Leaving the loop, or
/// cancelling its task, ends the observer.
public struct QueryObservation<Value: Sendable>: AsyncSequence, Sendable {
  /// What the sequence is of.
  public typealias Element = Value
  /// What iterating can throw.
  public typealias Failure = any Error

  // The database itself: it must not close because the caller needs it for nothing else any more.
  let db: BoutiqueDB
  let areEqual: (@Sendable (Value, Value) -> Bool)?
  let fetch: LiveFetch<Value>

  /// Creates an observer.
  public func makeAsyncIterator() -> Iterator {
    Iterator(runner: LiveQueryRunner(db: db, areEqual: areEqual, fetch: fetch))
  }

  /// One observer of a query.
  public struct Iterator: AsyncIteratorProtocol {
    let runner: LiveQueryRunner<Value>

    /// Whether nothing that the last value depends on has changed since; then `next` would wait.
    package var isCurrent: Bool { runner.isCurrent }

    /// Returns the next value, or nil when the task is cancelled.
    ///
    /// - Throws: what the query threw, or ``BoutiqueError`` when the database was closed or replaced.
    public mutating func next() async throws -> Value? {
      try await runner.next(isolation: nil)?.value
    }

    /// Returns the next value, or nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> Value? { try await runner.next(isolation: actor)?.value }
  }
}

extension BoutiqueDB {
  /// How many observers there are; live queries, loops and feeds.
  package var observerCount: Int { core.hub.observerCount }

  /// Observes a query whose values cannot be compared: each visible change yields a value.
  ///
  /// - Parameter fetch: reads the value. It runs on a thread of the library, in one snapshot, after each
  ///   commit of any process that touched what it read the last time.
  public func observe<Value: Sendable>(
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value
  ) -> QueryObservation<Value> {
    QueryObservation(db: self, areEqual: nil, fetch: LiveFetch(fetch))
  }

  /// Observes a query; a value equal to the last one is not delivered.
  ///
  /// - Parameter fetch: reads the value. It runs on a thread of the library, in one snapshot, after each
  ///   commit of any process that touched what it read the last time.
  public func observe<Value: Sendable & Equatable>(
    _ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value
  ) -> QueryObservation<Value> {
    QueryObservation(db: self, areEqual: { $0 == $1 }, fetch: LiveFetch(fetch))
  }
}
