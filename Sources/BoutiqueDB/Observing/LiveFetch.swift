import StructuredQueries

/// How a live query gets a value.
struct LiveFetch<Value: Sendable>: Sendable {
  /// One fetch, ready to run.
  struct Prepared: Sendable {
    /// What it has in common with others that may share its run; nil for a closure, of which nobody
    /// knows what it does.
    var key: RunKey?
    /// Whether its result may be kept and brought up to date.
    var mayBeKept = false
    var read: @Sendable (BoutiqueConnection, KeptBox?) throws -> Reading<Value>
  }

  /// Called on a reader's thread before each fetch.
  ///
  /// The parameter says whether somebody wants to tell the rows of a list apart.
  let prepare: @Sendable (_ withRowIDs: Bool) -> Prepared

  init(_ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value) {
    let prepared = Prepared(key: nil) { connection, _ in Reading(try fetch(connection)) }
    prepare = { _ in prepared }
  }

  /// The first row of a statement.
  init<S: Statement>(firstOf make: @escaping @Sendable () -> S)
  where Value == S.QueryValue.Output? {
    prepare = { _ in
      let statement = make()
      let types = [ObjectIdentifier(S.QueryValue.self), ObjectIdentifier(Value.self)]
      let key = RunKey(statement.query, types: types)
      let aggregate = Self.aggregate(statement)
      return Prepared(key: key, mayBeKept: key != nil && aggregate != nil) { connection, box in
        guard let key, let (select, aggregate) = aggregate, let box,
          let observed = connection.observed
        else { return Reading(try statement.fetchOne(connection)) }
        return try AggregateRun(
          statement: statement, select: select, aggregate: aggregate, key: key, box: box,
          observed: observed
        ).read(connection)
      }
    }
  }

  private static func aggregate(
    _ statement: some Statement
  ) -> (SingleTableSelect, SingleAggregate)? {
    guard let select = (statement as? any SingleTableStatement)?.singleTable,
      let aggregate = SingleAggregate(select), select.orders.isEmpty, select.limit == nil,
      select.offset == nil
    else { return nil }
    return (select, aggregate)
  }

  /// All rows of a statement.
  ///
  /// - Parameter areEqual: compares two elements.
  init<S: Statement>(
    _ make: @escaping @Sendable () -> S,
    areEqual: (@Sendable (S.QueryValue.Output, S.QueryValue.Output) -> Bool)?
  ) where Value == [S.QueryValue.Output] {
    prepare = { withRowIDs in
      let statement = make()
      var types = [ObjectIdentifier(S.QueryValue.self), ObjectIdentifier(Value.self)]
      if withRowIDs { types.append(ObjectIdentifier(ListPositions.self)) }
      let key = RunKey(statement.query, types: types)
      let select = (statement as? any SingleTableStatement)?.singleTable
      let aggregate = Self.aggregate(statement)
      return Prepared(key: key, mayBeKept: key != nil && select != nil) { connection, box in
        guard let key, let select, let box, let observed = connection.observed else {
          return Reading(try statement.fetchAll(connection))
        }
        if let (select, aggregate) = aggregate {
          let reading = try AggregateRun(
            statement: statement, select: select, aggregate: aggregate, key: key, box: box,
            observed: observed
          ).read(connection)
          return reading.map { $0.map { [$0] } ?? [] }
        }
        let run = KeepingRun(
          statement: statement, select: select, key: key, box: box, observed: observed,
          areEqual: areEqual, withRowIDs: withRowIDs)
        return try run.read(connection)
      }
    }
  }
}
