import BoutiqueDB

extension BlackbirdModel {
  /// Writes the instance: inserts its row, or sets the columns that were changed.
  ///
  /// Changed are those that were set since the instance was read from this database or written to it; where
  /// none was, nothing is done. A row with the same primary key is overwritten by an instance that did not come
  /// from it; a row that shares a unique index is not.
  ///
  /// - Throws: ``Blackbird/Database/Error/uniqueConstraintFailed(error:)`` and its siblings,
  ///   ``BlackbirdModelError``, ``BlackbirdTableError``, or `CancellationError`.
  public func write(to database: Blackbird.Database) async throws {
    let table = try Self.table
    guard try ColumnCollector(self, of: table, values: false).isChanged(in: database.id) else {
      return
    }
    guard Self.cacheLimit > 0 else {
      return try await database.write(table) { core in
        try writeIsolated(to: database, core: core)
      }
    }
    try await database.writeRemembering(table, Self.self) { core in
      try writeIsolated(to: database, core: core)
      return ((), try primaryKeyValues().map(\.sqlValue))
    }
  }

  /// Writes the instance, inside a transaction.
  ///
  /// When the transaction is rolled back, the columns count as changed again.
  public func writeIsolated(
    to database: Blackbird.Database, core: isolated Blackbird.Database.Core
  ) throws {
    try core.require(database)
    let use = try core.use(Self.self)
    try use.withCollector { columns in
      try columns.collect(self, values: true)
      guard columns.isChanged(in: database.id) else { return }
      try core.prepare(use)
      try core.write(columns, use.table)
      core.markSaved(columns)
    }
  }

  /// Deletes the row with the instance's primary key; nothing happens where there is none.
  public func delete(from database: Blackbird.Database) async throws {
    try await database.write(try Self.table) { core in
      try deleteIsolated(from: database, core: core)
    }
  }

  /// Deletes the row with the instance's primary key, inside a transaction.
  public func deleteIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core
  ) throws {
    try core.require(database)
    let use = try core.use(Self.self)
    try use.withCollector { columns in
      try columns.collect(self, values: true)
      try core.prepare(use)
      try core.run(use.table.statements.deleteByKey, columns.key(of: use.table))
      core.markUnsaved(columns)
    }
  }

  // MARK: What has changed

  /// The names of the columns that were set since the instance was read from a database or written to it.
  ///
  /// All of them, where it was neither.
  public func changedColumns(in database: Blackbird.Database) -> Blackbird.ColumnNames {
    guard let table = try? Self.table,
      let columns = try? ColumnCollector(self, of: table, values: false)
    else { return [] }
    return Set(columns.changed(in: database.id).map { table.columns[$0].name })
  }

  /// Returns the values of the primary key's columns.
  public func primaryKeyValues() throws -> [Blackbird.Value] {
    let table = try Self.table
    let columns = try ColumnCollector(self, of: table, values: true)
    return columns.key(of: table).map { Blackbird.Value($0) }
  }
}

extension ColumnCollector {
  /// The values of a primary key's columns.
  func key(of table: ModelTable) -> [SQLValue] {
    let values = storedValues
    return table.primaryKey.map { values[$0] }
  }

  func isChanged(in database: Int64) -> Bool {
    var last: ColumnOrigin?
    for origin in origins where origin !== last {
      if !origin.isSaved(in: database) { return true }
      last = origin
    }
    return false
  }

  /// Whether no column is saved in a database.
  func isAllChanged(in database: Int64) -> Bool {
    origins.allSatisfy { !$0.isSaved(in: database) }
  }

  /// The indices of the columns that are not saved in a database.
  func changed(in database: Int64) -> [Int] {
    var changed: [Int] = []
    var last: (origin: ColumnOrigin, isSaved: Bool)?
    for (index, origin) in origins.enumerated() {
      // Rows that were read share one.
      let isSaved = last?.origin === origin ? last?.isSaved ?? false : origin.isSaved(in: database)
      last = (origin, isSaved)
      if !isSaved { changed.append(index) }
    }
    return changed
  }
}

extension Blackbird.Database.Core {
  /// Inserts the row of an instance, or sets the columns that were changed.
  fileprivate func write(_ columns: ColumnCollector, _ table: ModelTable) throws {
    guard !columns.isAllChanged(in: database.id) else {
      try run(table.statements.upsert, columns.storedValues)
      return
    }
    let changed = columns.changed(in: database.id)
    // With another key it is another row, about which nothing is known.
    guard !changed.contains(where: table.primaryKey.contains) else {
      try run(table.statements.upsert, columns.storedValues)
      return
    }
    let values = columns.storedValues
    if try run(
      table.statements.update(changed), changed.map { values[$0] } + columns.key(of: table)) == 0
    {
      // Somebody has deleted the row.
      try run(table.statements.upsert, columns.storedValues)
    }
  }

  /// Runs a statement and returns how many rows it has changed.
  @discardableResult
  func run(_ sql: String, _ values: [SQLValue]) throws -> Int {
    try run(RepeatedSQL(once: sql), values)
  }

  /// Runs a statement and returns how many rows it has changed.
  @discardableResult
  func run(_ sql: RepeatedSQL, _ values: [SQLValue]) throws -> Int {
    try values.withUnsafeBufferPointer { try run(sql, $0) }
  }

  /// Runs a statement and returns how many rows it has changed.
  @discardableResult
  func run(_ sql: RepeatedSQL, _ values: UnsafeBufferPointer<SQLValue>) throws -> Int {
    database.log(sql.text, .list(values.map { Blackbird.Value($0) }))
    return try Blackbird.Database.Error.translating(sql.text) {
      try connection().run(sql, values: values)
    }
  }

  /// Notes that all of an instance's columns are saved.
  func markSaved(_ columns: ColumnCollector) {
    let id = database.id
    let origins = columns.origins
    guard let first = origins.first else { return }
    // An origin that columns share says something of all of them. It is marked only where they are all here: a
    // copy of the instance may have kept, under the same origin, a value that this one has not.
    if first.isShared, origins.allSatisfy({ $0 === first }) {
      guard !first.isSaved(in: id) else { return }
      undo.append(saved: CollectionOfOne(first))
      first.markSaved(in: id)
    } else if origins.allSatisfy({ !$0.isShared && !$0.isSaved(in: id) }) {
      undo.append(saved: origins)
      for origin in origins { origin.markSaved(in: id) }
    } else {
      let unsaved = origins.filter { !$0.isShared && !$0.isSaved(in: id) }
      undo.append(saved: unsaved)
      for origin in unsaved { origin.markSaved(in: id) }
    }
  }

  /// Notes that the row of an instance is gone.
  func markUnsaved(_ columns: ColumnCollector) {
    let id = database.id
    let saved = columns.origins.filter { $0.isSaved(in: id) }
    undo.append { for origin in saved { origin.markSaved(in: id) } }
    for origin in saved { origin.markUnsaved(in: id) }
  }
}
