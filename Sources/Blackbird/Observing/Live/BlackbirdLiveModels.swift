/// A property that always shows the models that a closure reads.
///
/// ```swift
/// @MainActor @Observable final class PostList {
///   @ObservationIgnored
///   @BlackbirdLiveModels({ try await Post.read(from: $0, orderBy: .ascending(\.$id)) }) var posts
/// }
/// ```
///
/// `posts.didLoad` is false until the first read. After that the closure is called again whenever any process
/// commits a change to the model's table, and Observation tells whoever has read the property; results equal to
/// the last ones tell nobody. Letting go of the property ends its work.
///
/// In a model of the main actor, results change only in turns of the main actor: what is read twice in one turn
/// is the same. A wrapper that is made elsewhere, or with `isolation: .anywhere`, changes at any moment on a
/// thread of the cooperative pool: that is for programs whose main thread is busy (``BlackbirdLiveIsolation``).
@propertyWrapper
public struct BlackbirdLiveModels<T: BlackbirdModel>: Sendable {
  /// The query's state: whether a read is under way, `refresh()`.
  public let projectedValue: BlackbirdLiveQueryState<T>

  /// The models as of the last read.
  public var wrappedValue: Blackbird.LiveResults<T> { projectedValue.value }

  /// Creates a live list of models.
  ///
  /// - Parameters:
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``.
  ///   - columns: the columns on which the result depends; empty for all.
  ///   - tables: names of further tables on which it depends.
  ///   - isolation: where the results change.
  ///   - caller: the actor of the calling code; leave it out.
  ///   - read: reads the models; called on the cooperative pool.
  public init(
    in database: Blackbird.Database? = nil, columns: [T.BlackbirdColumnKeyPath] = [],
    tables: [String] = [], isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation,
    _ read: @escaping @Sendable (Blackbird.Database) async throws -> [T]
  ) {
    let scope = LiveSignal.Scope(
      table: T.tableName, filter: T.changeFilter(columns: columns))
    projectedValue = BlackbirdLiveQueryState(
      observer: LiveObserver(
        LiveQueryPlan(scopes: [scope] + tables.map { .init(table: $0) }, read: read),
        in: database, isolation: isolation.resolved(caller: caller)))
  }
}
