public import StructuredQueries

// Live queries by statement. The closure that makes the statement runs again for every fetch, so a statement
// with the current date in it stays current. Live queries whose statements are equal share their runs.

extension BoutiqueDB {
  /// Observes the rows of a statement.
  ///
  /// - Parameter query: makes the statement, before each fetch.
  public func observe<S: Statement>(
    _ query: @escaping @Sendable () -> S
  ) -> QueryObservation<[S.QueryValue.Output]> {
    QueryObservation(db: self, areEqual: nil, fetch: LiveFetch(query, areEqual: nil))
  }

  /// Observes the rows of a statement; a result equal to the last one is not delivered.
  ///
  /// - Parameter query: makes the statement, before each fetch.
  public func observe<S: Statement>(
    _ query: @escaping @Sendable () -> S
  ) -> QueryObservation<[S.QueryValue.Output]> where S.QueryValue.Output: Equatable {
    QueryObservation(
      db: self, areEqual: { $0 == $1 }, fetch: LiveFetch(query, areEqual: { $0 == $1 }))
  }
}

extension LiveQuery {
  /// Creates a live query of a statement's rows.
  public init<S: Statement>(
    wrappedValue: [Element] = [], _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Element {
    projectedValue = LiveValue(wrappedValue, db.observe(query))
  }

  /// Creates a live query of a statement's rows; a result equal to the last one changes nothing.
  public init<S: Statement>(
    wrappedValue: [Element] = [], _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Element, Element: Equatable {
    projectedValue = LiveValue(wrappedValue, db.observe(query))
  }
}

extension LiveQueryOne {
  /// Creates a live query of a statement's first row.
  public init<S: Statement>(
    wrappedValue: Value? = nil, _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Value {
    projectedValue = LiveValue(
      wrappedValue, QueryObservation(db: db, areEqual: nil, fetch: LiveFetch(firstOf: query)))
  }

  /// Creates a live query of a statement's first row; a row equal to the last one changes nothing.
  public init<S: Statement>(
    wrappedValue: Value? = nil, _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Value, Value: Equatable {
    projectedValue = LiveValue(
      wrappedValue,
      QueryObservation(db: db, areEqual: { $0 == $1 }, fetch: LiveFetch(firstOf: query)))
  }
}
