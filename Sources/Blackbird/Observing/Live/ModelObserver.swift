import BoutiqueDB
public import Observation

extension BlackbirdModel {
  /// Observes one row, where no property wrapper is wanted.
  public typealias Observer = BlackbirdModelObserver<Self>

  /// An observer of this instance's row, in the database of ``BlackbirdEnvironment``.
  public var observer: BlackbirdModelObserver<Self> { observer() }

  /// Returns an observer of this instance's row.
  ///
  /// - Parameters:
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``.
  ///   - columns: the columns whose changes matter; empty for all.
  ///   - isolation: where the instance changes.
  ///   - caller: the actor of the calling code; leave it out.
  public func observer(
    in database: Blackbird.Database? = nil, columns: [BlackbirdColumnKeyPath] = [],
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation
  ) -> BlackbirdModelObserver<Self> {
    BlackbirdModelObserver(
      key: Result { try primaryKeyValues() }, initial: self, in: database, columns: columns,
      isolation: isolation.resolved(caller: caller))
  }
}

/// One row of a model's table, read again after each change of it by any process.
///
/// Observable: Observation tells whoever has read ``instance`` when it is another one. Letting go of the
/// observer ends its work. For isolation see ``BlackbirdLiveModels``.
public final class BlackbirdModelObserver<T: BlackbirdModel>: Observable, Sendable {
  private let observer: LiveObserver<T?>
  private let columns: [T.BlackbirdColumnKeyPath]

  /// Begins to observe the row with a primary key of one column; nil observes nothing yet.
  ///
  /// - Parameters:
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``, or a later ``bind(to:)``.
  ///   - columns: the columns whose changes matter; empty for all.
  ///   - isolation: where the instance changes.
  ///   - caller: the actor of the calling code; leave it out.
  public convenience init(
    in database: Blackbird.Database? = nil, primaryKey: (any Sendable)? = nil,
    columns: [T.BlackbirdColumnKeyPath] = [], isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation
  ) {
    self.init(
      key: primaryKey.map { key in Self.key([key]) }, initial: nil, in: database,
      columns: columns, isolation: isolation.resolved(caller: caller))
  }

  /// Begins to observe the row with a primary key of several columns.
  public convenience init(
    in database: Blackbird.Database? = nil, multicolumnPrimaryKey: [any Sendable],
    columns: [T.BlackbirdColumnKeyPath] = [], isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation
  ) {
    self.init(
      key: Self.key(multicolumnPrimaryKey), initial: nil, in: database, columns: columns,
      isolation: isolation.resolved(caller: caller))
  }

  init(
    key: Result<[Blackbird.Value], any Error>?, initial: T?, in database: Blackbird.Database?,
    columns: [T.BlackbirdColumnKeyPath], isolation: (any Actor)?
  ) {
    self.columns = columns
    observer = LiveObserver(
      key.map { LiveQueryPlan.row(of: T.self, key: $0, columns: columns) }, in: database,
      isolation: isolation, initial: .some(initial))
  }

  /// The row as of the last read; nil when there is no such row.
  public var instance: T? { observer.snapshot.value ?? nil }
  /// Whether a read has succeeded.
  public var didLoad: Bool { observer.snapshot.didLoad }
  /// Whether a read is under way.
  public var isLoading: Bool { observer.isLoading }
  /// What the last read failed with; nil when it succeeded.
  public var error: (any Error)? { observer.snapshot.error }

  /// Observes another row from now on; nil for none.
  public func observe(primaryKey: (any Sendable)?) {
    follow(primaryKey.map { Self.key([$0]) })
  }

  /// Observes another row from now on; nil for none.
  public func observe(multicolumnPrimaryKey: [any Sendable]?) {
    follow(multicolumnPrimaryKey.map { Self.key($0) })
  }

  /// Reads from another database from now on; nil for none.
  public func bind(to database: Blackbird.Database?) { observer.bind(to: database) }

  /// Waits until the instance is at least as new as everything committed before the call, by any process.
  ///
  /// - Throws: what the read throws; ``BlackbirdLiveError``.
  public func refresh() async throws { try await observer.refresh() }

  private func follow(_ key: Result<[Blackbird.Value], any Error>?) {
    observer.follow(key.map { LiveQueryPlan.row(of: T.self, key: $0, columns: columns) })
  }

  private static func key(_ values: [any Sendable]) -> Result<[Blackbird.Value], any Error> {
    Result { try T.table.key(values).map { Blackbird.Value($0) } }
  }
}
