/// A property that always shows the rows that a closure reads.
///
/// ```swift
/// @BlackbirdLiveQuery(tableName: "Post", { try await $0.query("SELECT MAX(id) AS max FROM Post") }) var maxID
/// ```
///
/// As ``BlackbirdLiveModels``: `maxID.didLoad`, `maxID.results`, and `$maxID.refresh()`.
@propertyWrapper
public struct BlackbirdLiveQuery: Sendable {
  /// The query's state: whether a read is under way, `refresh()`.
  public let projectedValue: BlackbirdLiveQueryState<Blackbird.Row>

  /// The rows as of the last read.
  public var wrappedValue: Blackbird.LiveResults<Blackbird.Row> { projectedValue.value }

  /// Creates a live query.
  ///
  /// - Parameters:
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``.
  ///   - tableName: the table on which the rows depend.
  ///   - tables: names of further tables on which they depend.
  ///   - isolation: where the rows change.
  ///   - caller: the actor of the calling code; leave it out.
  ///   - read: reads the rows; called on the cooperative pool.
  public init(
    in database: Blackbird.Database? = nil, tableName: String, tables: [String] = [],
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation,
    _ read: @escaping @Sendable (Blackbird.Database) async throws -> [Blackbird.Row]
  ) {
    projectedValue = BlackbirdLiveQueryState(
      observer: LiveObserver(
        LiveQueryPlan(scopes: ([tableName] + tables).map { .init(table: $0) }, read: read),
        in: database, isolation: isolation.resolved(caller: caller)))
  }
}
