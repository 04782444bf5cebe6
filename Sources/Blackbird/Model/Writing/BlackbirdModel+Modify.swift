import BoutiqueDB

extension BlackbirdModel {
  /// Reads the row with a value of the primary key's one column, changes it, and writes it, in one transaction.
  ///
  /// Nobody writes in between, in no process; two that add one to the same number add two.
  ///
  /// - Parameter changes: changes the instance, or assigns one that was read before; what it throws undoes
  ///   everything.
  /// - Returns: the instance as it was written.
  /// - Throws: ``BlackbirdModelError/primaryKeyNotFound(value:)`` where there is no such row, and
  ///   ``BlackbirdModelError/argumentInvalid(type:description:)`` where another row's instance was assigned.
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
    guard var instance = try core.instance(Self.self, key: key) else {
      throw BlackbirdModelError.primaryKeyNotFound(value: key.map { Blackbird.Value($0) })
    }
    let before = try ColumnCollector(instance, of: table, values: true).values
    try changes(&instance)
    let columns = try ColumnCollector(instance, of: table, values: true)
    let set = Set(columns.changed(in: database.id))
    let differing = table.columns.indices.filter { columns.values[$0] != before[$0] }
    // A key that was set moves the row; one that is saved is another row's, of which the instance was assigned.
    guard !differing.contains(where: { table.primaryKey.contains($0) && !set.contains($0) }) else {
      func text(_ values: [SQLValue]) -> String {
        table.primaryKey.map { values[$0].description }.joined(separator: ", ")
      }
      throw BlackbirdModelError.argumentInvalid(
        type: table.typeName,
        description:
          "modify of the row with the key (\(text(before))) was given the row with the key "
          + "(\(text(columns.values))); set the columns that are to change")
    }
    // Not by what was set alone: an instance that was assigned may have been read at another time.
    let changed = set.union(differing).sorted()
    guard !changed.isEmpty else { return instance }
    // By the old key: a changed one moves the row, and does not leave it behind.
    try core.run(table.statements.update(changed), changed.map { columns.values[$0] } + key)
    core.markSaved(columns)
    return instance
  }
}
