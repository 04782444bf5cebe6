import StructuredQueries

/// How a live query gets a value.
struct LiveFetch<Value: Sendable>: Sendable {
  /// One fetch, ready to run.
  struct Prepared: Sendable {
    /// What it has in common with others that may share its run; nil for a closure, of which nobody
    /// knows what it does.
    var key: RunKey?
    var read: @Sendable (BoutiqueConnection) throws -> Value
  }

  /// Called on a reader's thread before each fetch.
  let prepare: @Sendable () -> Prepared

  init(_ fetch: @escaping @Sendable (BoutiqueConnection) throws -> Value) {
    let prepared = Prepared(key: nil, read: fetch)
    prepare = { prepared }
  }

  /// - Parameter fetch: reads the value of a statement; it may depend on nothing else.
  init<S: Statement>(
    _ make: @escaping @Sendable () -> S,
    fetch: @escaping @Sendable (S, BoutiqueConnection) throws -> Value
  ) {
    prepare = {
      let statement = make()
      let types = [ObjectIdentifier(S.QueryValue.self), ObjectIdentifier(Value.self)]
      return Prepared(key: RunKey(statement.query, types: types)) { try fetch(statement, $0) }
    }
  }
}
