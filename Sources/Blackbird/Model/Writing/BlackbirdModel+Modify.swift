import BoutiqueDB

extension BlackbirdModel {
  /// Reads the row with a value of the primary key's one column, changes it, and writes it, in one transaction.
  ///
  /// Nobody writes in between, in no process; two that add one to the same number add two.
  ///
  /// - Parameter changes: changes the instance; what it throws undoes everything.
  /// - Returns: the instance as it was written.
  /// - Throws: ``BlackbirdModelError/primaryKeyNotFound(value:)`` where there is no such row.
  @discardableResult
  public static func modify(
    in database: Blackbird.Database, primaryKey: any Sendable,
    changes: @escaping @Sendable (inout Self) throws -> Void
  ) async throws -> Self {
    try await modify(in: database, multicolumnPrimaryKey: [primaryKey], changes: changes)
  }

  /// Reads the row with the values of a primary key, changes it, and writes it, in one transaction.
  @discardableResult
  public static func modify(
    in database: Blackbird.Database, multicolumnPrimaryKey: [any Sendable],
    changes: @escaping @Sendable (inout Self) throws -> Void
  ) async throws -> Self {
    guard cacheLimit > 0 else {
      return try await database.write(try table) { core in
        try modifyIsolated(
          in: database, core: core, multicolumnPrimaryKey: multicolumnPrimaryKey, changes: changes)
      }
    }
    return try await database.writeRemembering(try table, Self.self) { core in
      let instance = try modifyIsolated(
        in: database, core: core, multicolumnPrimaryKey: multicolumnPrimaryKey, changes: changes)
      return (instance, try instance.primaryKeyValues().map(\.sqlValue))
    }
  }

  /// Reads the row with a value of the primary key's one column, changes it, and writes it, inside a transaction.
  @discardableResult
  public static func modifyIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    primaryKey: any Sendable, changes: (inout Self) throws -> Void
  ) throws -> Self {
    try core.require(database)
    return try modifyIsolated(
      in: database, core: core, multicolumnPrimaryKey: [primaryKey], changes: changes)
  }

  /// Reads the row with the values of a primary key, changes it, and writes it, inside a transaction.
  @discardableResult
  public static func modifyIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    multicolumnPrimaryKey: [any Sendable], changes: (inout Self) throws -> Void
  ) throws -> Self {
    try core.require(database)
    let table = try table
    let key = try table.key(multicolumnPrimaryKey)
    try core.prepare(table)
    guard var instance = try core.instance(Self.self, key: key, table) else {
      throw BlackbirdModelError.primaryKeyNotFound(value: key.map { Blackbird.Value($0) })
    }
    try changes(&instance)
    let columns = try ColumnCollector(instance, of: table, values: true)
    let changed = columns.changed(in: database.id)
    guard !changed.isEmpty else { return instance }
    // By the old key: a changed one moves the row, and does not leave it behind.
    try core.run(table.statements.update(changed), changed.map { columns.values[$0] } + key)
    core.markSaved(columns)
    return instance
  }
}
