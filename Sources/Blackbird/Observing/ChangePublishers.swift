extension Blackbird.Database {
  /// Publishes the changes of a table, by whichever process.
  public func changePublisher(for tableName: String) -> Blackbird.ChangePublisher {
    Blackbird.ChangePublisher(
      database: self, table: tableName, filter: ChangeFilter(), transform: { $0 })
  }
}

extension BlackbirdModel {
  /// What ``changePublisher(in:columns:)`` and its like return.
  public typealias ChangePublisher = Blackbird.ModelChangePublisher<Self>

  /// Publishes the changes of the table, by whichever process.
  ///
  /// - Parameter columns: only commits that change one of these, or in which a row comes or goes; empty for
  ///   all.
  public static func changePublisher(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath] = []
  ) -> Blackbird.ModelChangePublisher<Self> {
    publisher(database, changeFilter(columns: columns))
  }

  /// Publishes the changes of one row, by whichever process.
  ///
  /// - Parameters:
  ///   - primaryKey: the key, of one column; nil for all rows.
  ///   - columns: only commits that change one of these in the row, or in which it comes or goes; empty for
  ///     all.
  ///   - multicolumnPrimaryKey: the key, where it has several columns.
  public static func changePublisher(
    in database: Blackbird.Database, primaryKey: (any Sendable)?,
    columns: [BlackbirdColumnKeyPath] = [],
    multicolumnPrimaryKey: [any Sendable]? = nil
  ) -> Blackbird.ModelChangePublisher<Self> {
    let key = multicolumnPrimaryKey ?? primaryKey.map { [$0] }
    return publisher(database, changeFilter(keys: key.map { [$0] }, columns: columns))
  }

  /// Publishes the changes of one row whose primary key has several columns, by whichever process.
  ///
  /// - Parameter multicolumnPrimaryKey: the values in the order of ``primaryKey``; nil for all rows.
  public static func changePublisher(
    in database: Blackbird.Database, multicolumnPrimaryKey: [any Sendable]?,
    columns: [BlackbirdColumnKeyPath] = []
  ) -> Blackbird.ModelChangePublisher<Self> {
    publisher(
      database, changeFilter(keys: multicolumnPrimaryKey.map { [$0] }, columns: columns))
  }

  /// Publishes the changes of one row, but not those of some columns alone.
  ///
  /// - Parameter ignoredColumns: a commit that changes only these in the row is not published.
  public static func changePublisher(
    in database: Blackbird.Database, primaryKey: (any Sendable)?,
    ignoredColumns: [BlackbirdColumnKeyPath]
  ) -> Blackbird.ModelChangePublisher<Self> {
    publisher(
      database, changeFilter(keys: primaryKey.map { [[$0]] }, ignored: ignoredColumns))
  }

  /// Publishes the changes of the table, but not those of some columns alone.
  public static func changePublisher(
    in database: Blackbird.Database, ignoredColumns: [BlackbirdColumnKeyPath]
  ) -> Blackbird.ModelChangePublisher<Self> {
    publisher(database, changeFilter(ignored: ignoredColumns))
  }

  /// Publishes the changes of one row whose primary key has several columns, but not those of some columns
  /// alone.
  public static func changePublisher(
    in database: Blackbird.Database, multicolumnPrimaryKey: [any Sendable]?,
    ignoredColumns: [BlackbirdColumnKeyPath]
  ) -> Blackbird.ModelChangePublisher<Self> {
    publisher(
      database,
      changeFilter(keys: multicolumnPrimaryKey.map { [$0] }, ignored: ignoredColumns))
  }

  private static func publisher(
    _ database: Blackbird.Database, _ filter: ChangeFilter
  ) -> Blackbird.ModelChangePublisher<Self> {
    Blackbird.ModelChangePublisher<Self>(
      database: database, table: tableName, filter: filter,
      transform: { Blackbird.ModelChange(change: $0) })
  }
}
