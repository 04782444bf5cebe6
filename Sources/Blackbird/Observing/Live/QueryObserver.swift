public import Observation

extension BlackbirdModel {
  /// Observes what a closure reads, where no property wrapper is wanted.
  public typealias QueryObserver<Result: Sendable> = BlackbirdModelQueryObserver<Self, Result>
}

/// A value that a closure reads, read again after each change of the model's table by any process.
///
/// ```swift
/// let count = Post.QueryObserver(in: db) { try await Post.count(in: $0) }
/// ```
///
/// Observable: Observation tells whoever has read ``result`` when it is another one. Letting go of the observer
/// ends its work. For isolation see ``BlackbirdLiveModels``.
public final class BlackbirdModelQueryObserver<T: BlackbirdModel, Result: Sendable>: Observable,
  Sendable
{
  private let observer: LiveObserver<Result>

  /// Begins to observe.
  ///
  /// - Parameters:
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``, or a later ``bind(to:)``.
  ///   - multicolumnPrimaryKeyForInvalidation: the key of the one row on which the result depends; nil for
  ///     all rows.
  ///   - columnsForInvalidation: the columns on which the result depends; nil for all.
  ///   - tables: names of further tables on which it depends.
  ///   - isolation: where the result changes.
  ///   - caller: the actor of the calling code; leave it out.
  ///   - read: reads the value; called on the cooperative pool.
  public init(
    in database: Blackbird.Database? = nil,
    multicolumnPrimaryKeyForInvalidation: [any Sendable]? = nil,
    columnsForInvalidation: [T.BlackbirdColumnKeyPath]? = nil, tables: [String] = [],
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation,
    _ read: @escaping @Sendable (Blackbird.Database) async throws -> Result
  ) {
    let filter = T.changeFilter(
      keys: multicolumnPrimaryKeyForInvalidation.map { [$0] }, columns: columnsForInvalidation)
    let scope = LiveSignal.Scope(table: T.tableName, filter: filter)
    observer = LiveObserver(
      LiveQueryPlan(scopes: [scope] + tables.map { .init(table: $0) }, read: read), in: database,
      isolation: isolation.resolved(caller: caller))
  }

  /// The value as of the last read that succeeded; nil before the first.
  public var result: Result? { observer.snapshot.value }
  /// Whether a read has succeeded.
  public var didLoad: Bool { observer.snapshot.didLoad }
  /// Whether a read is under way.
  public var isLoading: Bool { observer.isLoading }
  /// What the last read failed with; nil when it succeeded.
  public var error: (any Error)? { observer.snapshot.error }

  /// Reads from another database from now on; nil for none.
  public func bind(to database: Blackbird.Database?) { observer.bind(to: database) }

  /// Waits until the result is at least as new as everything committed before the call, by any process.
  ///
  /// - Throws: what the read throws; ``BlackbirdLiveError``.
  public func refresh() async throws { try await observer.refresh() }
}
