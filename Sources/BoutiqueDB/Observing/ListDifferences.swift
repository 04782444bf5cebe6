/// The lists of a query over time, each with what has changed since the one before.
///
/// ```swift
/// for try await change in db.observe({ Note.order { $0.title } }).differences {
///   table.removeRows(change.removed)
/// }
/// ```
///
/// The list before the first is empty. All else is as for ``QueryObservation``.
public struct ListDifferences<List>: AsyncSequence, Sendable
where
  List: RangeReplaceableCollection & RandomAccessCollection & Sendable, List.Index == Int,
  List.Element: Sendable
{
  /// What the sequence is of.
  public typealias Element = ListDifference<List.Element>
  /// What iterating can throw.
  public typealias Failure = any Error

  let observation: QueryObservation<List>

  /// Creates an observer.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      runner: LiveQueryRunner(
        db: observation.db, areEqual: observation.areEqual, fetch: observation.fetch,
        withRowIDs: true),
      areEqual: observation.areEqual)
  }

  /// One observer of a query.
  public struct Iterator: AsyncIteratorProtocol {
    let runner: LiveQueryRunner<List>
    let areEqual: (@Sendable (List, List) -> Bool)?
    private var last = Reading<List>(List())

    init(
      runner: LiveQueryRunner<List>, areEqual: (@Sendable (List, List) -> Bool)?
    ) {
      self.runner = runner
      self.areEqual = areEqual
      last.rowIDs = []
    }

    /// Whether nothing that the last value depends on has changed since; then `next` would wait.
    package var isCurrent: Bool { runner.isCurrent }

    /// Returns the next list with its difference, or nil when the task is cancelled.
    ///
    /// - Throws: what the query threw, or ``BoutiqueError`` when the database was closed or replaced.
    public mutating func next() async throws -> ListDifference<List.Element>? {
      try await next(isolation: nil)
    }

    /// Returns the next list with its difference, or nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> ListDifference<List.Element>? {
      guard let delivery = try await runner.next(isolation: actor) else { return nil }
      let reading = delivery.reading
      let positions = positions(from: last, to: reading)
      last = reading
      return ListDifference(Array(reading.value), positions)
    }

    private func positions(
      from old: Reading<List>, to new: Reading<List>
    ) -> ListPositions {
      if let version = new.version, let before = old.version, version.follows(before),
        let known = new.change?.positions
      {
        return known
      }
      // A list of one element each, since lists are what can be compared here.
      let areAlike: (Int, Int) -> Bool = { [areEqual] before, after in
        areEqual?(
          List(CollectionOfOne(old.value[before])), List(CollectionOfOne(new.value[after])))
          ?? false
      }
      if let before = old.rowIDs, let after = new.rowIDs {
        return ListPositions(from: before, to: after, areAlike)
      }
      return ListPositions(old.value.count, new.value.count, areAlike)
    }
  }
}

extension QueryObservation
where
  Value: RangeReplaceableCollection & RandomAccessCollection, Value.Index == Int,
  Value.Element: Sendable
{
  /// The lists of a query with what has changed in each.
  public var differences: ListDifferences<Value> { ListDifferences(observation: self) }
}
