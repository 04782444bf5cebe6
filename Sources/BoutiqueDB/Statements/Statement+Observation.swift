public import StructuredQueries

// Live queries by statement. The closure that makes the statement runs again for every fetch, so a statement
// with the current date in it stays current.

extension BoutiqueDB {
  /// Observes the rows of a statement.
  ///
  /// - Parameter query: makes the statement, before each fetch.
  public func observe<S: Statement>(
    _ query: @escaping @Sendable () -> S
  ) -> QueryObservation<[S.QueryValue.Output]> {
    observe { conn in try query().fetchAll(conn) }
  }

  /// Observes the rows of a statement; a result equal to the last one is not delivered.
  ///
  /// - Parameter query: makes the statement, before each fetch.
  public func observe<S: Statement>(
    _ query: @escaping @Sendable () -> S
  ) -> QueryObservation<[S.QueryValue.Output]> where S.QueryValue.Output: Equatable {
    observe { conn in try query().fetchAll(conn) }
  }
}

extension LiveQuery {
  /// Creates a live query of a statement's rows.
  public init<S: Statement>(
    wrappedValue: [Element] = [], _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Element {
    self.init(wrappedValue: wrappedValue, db) { conn in try query().fetchAll(conn) }
  }

  /// Creates a live query of a statement's rows; a result equal to the last one changes nothing.
  public init<S: Statement>(
    wrappedValue: [Element] = [], _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Element, Element: Equatable {
    self.init(wrappedValue: wrappedValue, db) { conn in try query().fetchAll(conn) }
  }
}

extension LiveQueryOne {
  /// Creates a live query of a statement's first row.
  public init<S: Statement>(
    wrappedValue: Value? = nil, _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Value {
    self.init(wrappedValue: wrappedValue, db) { conn in try query().fetchOne(conn) }
  }

  /// Creates a live query of a statement's first row; a row equal to the last one changes nothing.
  public init<S: Statement>(
    wrappedValue: Value? = nil, _ db: BoutiqueDB, _ query: @escaping @Sendable () -> S
  ) where S.QueryValue.Output == Value, Value: Equatable {
    self.init(wrappedValue: wrappedValue, db) { conn in try query().fetchOne(conn) }
  }
}
