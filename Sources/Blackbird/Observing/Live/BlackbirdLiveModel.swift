import BoutiqueDB

/// A property that always shows one model as it is in the database.
///
/// ```swift
/// struct PostView {
///   @BlackbirdLiveModel var post: Post?        // PostView(post: somePost.liveModel)
/// }
/// ```
///
/// The value is nil when there is no such row. `$post` tells whether it was read, and writes a changed copy. For
/// the database and isolation see ``BlackbirdLiveModels``.
@propertyWrapper
public struct BlackbirdLiveModel<T: BlackbirdModel>: Sendable {
  /// The model's state, and ways to write it.
  public let projectedValue: BlackbirdLiveModelUpdater<T>

  /// The model as of the last read; before the first, the instance that the wrapper was made of.
  public var wrappedValue: T? { projectedValue.instance }

  /// Creates a live model of an instance.
  ///
  /// - Parameters:
  ///   - instance: shown until the first read; its primary key tells which row.
  ///   - database: where to read; nil for the one of ``BlackbirdEnvironment``.
  ///   - columns: the columns whose changes matter; empty for all.
  ///   - isolation: where the value changes.
  ///   - caller: the actor of the calling code; leave it out.
  public init(
    _ instance: T, in database: Blackbird.Database? = nil,
    columns: [T.BlackbirdColumnKeyPath] = [], isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation
  ) {
    self.init(
      key: Result { try instance.primaryKeyValues() }, initial: instance, database, columns,
      isolation.resolved(caller: caller))
  }

  /// Creates a live model of the row with a primary key of one column.
  public init(
    type: T.Type = T.self, in database: Blackbird.Database? = nil, primaryKey: any Sendable,
    columns: [T.BlackbirdColumnKeyPath] = [], isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation
  ) {
    self.init(
      type: type, in: database, multicolumnPrimaryKey: [primaryKey], columns: columns,
      isolation: isolation, caller: caller)
  }

  /// Creates a live model of the row with a primary key of several columns.
  public init(
    type: T.Type = T.self, in database: Blackbird.Database? = nil,
    multicolumnPrimaryKey: [any Sendable], columns: [T.BlackbirdColumnKeyPath] = [],
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation
  ) {
    self.init(
      key: Result { try T.table.key(multicolumnPrimaryKey).map { Blackbird.Value($0) } },
      initial: nil, database, columns, isolation.resolved(caller: caller))
  }

  private init(
    key: Result<[Blackbird.Value], any Error>, initial: T?, _ database: Blackbird.Database?,
    _ columns: [T.BlackbirdColumnKeyPath], _ isolation: (any Actor)?
  ) {
    projectedValue = BlackbirdLiveModelUpdater(
      key: key,
      observer: LiveObserver(
        LiveQueryPlan.row(of: T.self, key: key, columns: columns), in: database,
        isolation: isolation, initial: initial))
  }
}

extension LiveQueryPlan {
  /// Returns how one row is read.
  ///
  /// - Parameter key: one that cannot be stored is the error of each read.
  static func row<T: BlackbirdModel>(
    of type: T.Type, key: Result<[Blackbird.Value], any Error>,
    columns: [T.BlackbirdColumnKeyPath]
  ) -> LiveQueryPlan<T?> where Value == T? {
    var filter = T.changeFilter(columns: columns)
    filter.keys = (try? key.get()).map { [$0.map { RowKeyValues.normal($0) }] }
    return LiveQueryPlan<T?>(
      scopes: [.init(table: T.tableName, filter: filter)],
      read: { try await T.read(from: $0, multicolumnPrimaryKey: try key.get()) })
  }
}

/// What `$` gives of a live model: its state, and ways to write it.
public struct BlackbirdLiveModelUpdater<T: BlackbirdModel>: Sendable {
  let key: Result<[Blackbird.Value], any Error>
  let observer: LiveObserver<T?>

  /// The model as of the last read; nil when there is no such row.
  public var instance: T? { observer.snapshot.value ?? nil }
  /// Whether a read has succeeded.
  public var didLoad: Bool { observer.snapshot.didLoad }
  /// Whether a read is under way.
  public var isLoading: Bool { observer.isLoading }
  /// What the last read failed with; nil when it succeeded.
  public var error: (any Error)? {
    let error = observer.snapshot.error
    return error ?? (observer.database == nil ? BlackbirdLiveError.noDatabase : nil)
  }

  /// Waits until the value is at least as new as everything committed before the call, by any process.
  ///
  /// - Throws: what the read throws; ``BlackbirdLiveError``.
  public func refresh() async throws { try await observer.refresh() }

  /// Writes a copy that was changed: the columns that were set, and no others.
  ///
  /// When it returns, the value shows what was written, or something newer.
  ///
  /// - Throws: what writing the instance throws; ``BlackbirdLiveError``.
  public func update(_ changed: T) async throws {
    try await changed.write(to: try database())
    try await refresh()
  }

  /// Reads the row, changes it and writes it, in one transaction; nobody of any process writes in between.
  ///
  /// When it returns, the value shows what was written, or something newer.
  ///
  /// - Throws: ``BlackbirdModelError/primaryKeyNotFound(value:)`` where there is no such row; what
  ///   `changes` throws; ``BlackbirdLiveError``.
  @discardableResult
  public func modify(_ changes: @escaping @Sendable (inout T) throws -> Void) async throws -> T {
    let written = try await T.modify(
      in: try database(), multicolumnPrimaryKey: try key.get(), changes: changes)
    try await refresh()
    return written
  }

  /// Deletes the row.
  public func delete() async throws {
    guard let instance else { return }
    try await instance.delete(from: try database())
    try await refresh()
  }

  private func database() throws -> Blackbird.Database {
    guard let database = observer.database else { throw BlackbirdLiveError.noDatabase }
    return database
  }
}

extension BlackbirdModel {
  /// A live model of this instance's row, in the database of ``BlackbirdEnvironment``.
  public var liveModel: BlackbirdLiveModel<Self> { BlackbirdLiveModel(self) }

  /// Returns a live model of this instance's row.
  public func liveModel(
    in database: Blackbird.Database? = nil, isolation: BlackbirdLiveIsolation = .automatic,
    caller: (any Actor)? = #isolation
  ) -> BlackbirdLiveModel<Self> {
    BlackbirdLiveModel(self, in: database, isolation: isolation, caller: caller)
  }

  /// Returns a live model of the row with a primary key of one column.
  public static func liveModel(
    in database: Blackbird.Database? = nil, primaryKey: any Sendable,
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation
  ) -> BlackbirdLiveModel<Self> {
    BlackbirdLiveModel(
      in: database, primaryKey: primaryKey, isolation: isolation, caller: caller)
  }

  /// Returns a live model of the row with a primary key of several columns.
  public static func liveModel(
    in database: Blackbird.Database? = nil, multicolumnPrimaryKey: [any Sendable],
    isolation: BlackbirdLiveIsolation = .automatic, caller: (any Actor)? = #isolation
  ) -> BlackbirdLiveModel<Self> {
    BlackbirdLiveModel(
      in: database, multicolumnPrimaryKey: multicolumnPrimaryKey, isolation: isolation,
      caller: caller)
  }
}
