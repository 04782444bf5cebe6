import BoutiqueDB

extension BlackbirdModel {
  // MARK: By condition

  /// Sets columns of the rows that match a condition; `.all` for every row.
  ///
  /// ```swift
  /// try await Post.update(in: db, set: [\.$title: "Hi"], matching: \.$id < 100)
  /// ```
  ///
  /// Rows that have the values already are not touched, and nobody hears of them.
  ///
  /// - Returns: how many rows were changed.
  @discardableResult
  public static func update(
    in database: Blackbird.Database, set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    matching: BlackbirdModelColumnExpression<Self>
  ) async throws -> Int {
    let assignments = try assignments(changes)
    return try await update(in: database, assignments, matching)
  }

  /// Sets columns of the rows that match a condition to what is computed from each row.
  ///
  /// ```swift
  /// try await Post.update(in: db, set: [\.$count: \.$count + 1, \.$isRead: !\.$isRead], matching: .all)
  /// ```
  @discardableResult
  public static func update(
    in database: Blackbird.Database,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    matching: BlackbirdModelColumnExpression<Self>
  ) async throws -> Int {
    let assignments = try assignments(changes)
    return try await update(in: database, assignments, matching)
  }

  /// Sets columns of the rows that match a condition, inside a transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    matching: BlackbirdModelColumnExpression<Self>
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), matching)
  }

  /// Sets columns of the rows that match a condition to what is computed from each row, inside a transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    matching: BlackbirdModelColumnExpression<Self>
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), matching)
  }

  // MARK: By key

  /// Sets columns of the rows with values of the primary key's one column.
  @discardableResult
  public static func update(
    in database: Blackbird.Database, set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    forPrimaryKeys primaryKeys: [any Sendable]
  ) async throws -> Int {
    try await update(
      in: database, set: changes, forMulticolumnPrimaryKeys: primaryKeys.map { [$0] })
  }

  /// Sets columns of the rows with values of the primary key's one column to what is computed from each row.
  @discardableResult
  public static func update(
    in database: Blackbird.Database,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    forPrimaryKeys primaryKeys: [any Sendable]
  ) async throws -> Int {
    try await update(
      in: database, set: changes, forMulticolumnPrimaryKeys: primaryKeys.map { [$0] })
  }

  /// Sets columns of the rows with primary keys of several columns.
  @discardableResult
  public static func update(
    in database: Blackbird.Database, set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    forMulticolumnPrimaryKeys primaryKeys: [[any Sendable]]
  ) async throws -> Int {
    let assignments = try assignments(changes)
    return try await update(in: database, assignments, primaryKeys)
  }

  /// Sets columns of the rows with primary keys of several columns to what is computed from each row.
  @discardableResult
  public static func update(
    in database: Blackbird.Database,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    forMulticolumnPrimaryKeys primaryKeys: [[any Sendable]]
  ) async throws -> Int {
    let assignments = try assignments(changes)
    return try await update(in: database, assignments, primaryKeys)
  }

  /// Sets columns of the rows with values of the primary key's one column, inside a transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    forPrimaryKeys primaryKeys: [any Sendable]
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), primaryKeys.map { [$0] })
  }

  /// Sets columns of the rows with values of the primary key's one column to what is computed from each row,
  /// inside a transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    forPrimaryKeys primaryKeys: [any Sendable]
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), primaryKeys.map { [$0] })
  }

  /// Sets columns of the rows with primary keys of several columns, inside a transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: (any Sendable)?],
    forMulticolumnPrimaryKeys primaryKeys: [[any Sendable]]
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), primaryKeys)
  }

  /// Sets columns of the rows with primary keys of several columns to what is computed from each row, inside a
  /// transaction.
  @discardableResult
  public static func updateIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    set changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>],
    forMulticolumnPrimaryKeys primaryKeys: [[any Sendable]]
  ) throws -> Int {
    try core.require(database)
    return try updateIsolated(core, try assignments(changes), primaryKeys)
  }

  // MARK: Deleting

  /// Deletes the rows that match a condition; `.all` for every row.
  ///
  /// - Returns: how many rows were deleted.
  @discardableResult
  public static func delete(
    from database: Blackbird.Database, matching: BlackbirdModelColumnExpression<Self>
  ) async throws -> Int {
    try await database.write(try table) { core in
      try deleteIsolated(from: database, core: core, matching: matching)
    }
  }

  /// Deletes the rows that match a condition, inside a transaction.
  @discardableResult
  public static func deleteIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    matching: BlackbirdModelColumnExpression<Self>
  ) throws -> Int {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    let select = try ModelSelect("DELETE FROM \(SQLName.quoted(table.name))", matching: matching)
    return try core.run(select.sql, select.values)
  }

  // MARK: Parts

  private static func update(
    in database: Blackbird.Database, _ assignments: [Assignment],
    _ matching: BlackbirdModelColumnExpression<Self>
  ) async throws -> Int {
    guard !assignments.isEmpty else { return 0 }
    return try await database.write(try table) { core in
      try updateIsolated(core, assignments, matching)
    }
  }

  private static func update(
    in database: Blackbird.Database, _ assignments: [Assignment], _ primaryKeys: [[any Sendable]]
  ) async throws -> Int {
    guard !assignments.isEmpty, !primaryKeys.isEmpty else { return 0 }
    return try await database.write(try table) { core in
      try updateIsolated(core, assignments, primaryKeys)
    }
  }

  private static func updateIsolated(
    _ core: isolated Blackbird.Database.Core, _ assignments: [Assignment],
    _ matching: BlackbirdModelColumnExpression<Self>
  ) throws -> Int {
    let table = try table
    guard !assignments.isEmpty else { return 0 }
    try core.prepare(table)
    let (condition, values) = try matching.compiled()
    let differing = "(\(assignments.map(\.differing).joined(separator: " OR ")))"
    return try core.run(
      "\(table.update(assignments)) WHERE \(condition.map { "\($0) AND " } ?? "")\(differing)",
      assignments.flatMap(\.values) + values + assignments.flatMap(\.values))
  }

  private static func updateIsolated(
    _ core: isolated Blackbird.Database.Core, _ assignments: [Assignment],
    _ primaryKeys: [[any Sendable]]
  ) throws -> Int {
    let table = try table
    guard !assignments.isEmpty else { return 0 }
    let keys = try primaryKeys.map { try table.key($0) }
    try core.prepare(table)
    let differing = "(\(assignments.map(\.differing).joined(separator: " OR ")))"
    let sql = "\(table.update(assignments)) \(table.statements.whereKey) AND \(differing)"
    let values = assignments.flatMap(\.values)
    // A key that is given twice is changed once.
    return try Set(keys).reduce(0) { try $0 + core.run(sql, values + $1 + values) }
  }

  private static func assignments(
    _ changes: [BlackbirdColumnKeyPath: (any Sendable)?]
  ) throws -> [Assignment] {
    let table = try table
    return try changes.map { path, value in
      let column = try table.column(path)
      if let expression = value as? BlackbirdColumnExpression<Self> {
        return Assignment(column: column.name, try expression.compiled())
      }
      return Assignment(column: column.name, ("?", [try table.stored(value, for: column)]))
    }.sorted { $0.column < $1.column }
  }

  private static func assignments(
    _ changes: [BlackbirdColumnKeyPath: BlackbirdColumnExpression<Self>]
  ) throws -> [Assignment] {
    let table = try table
    return try changes.map { path, expression in
      Assignment(column: try table.name(of: path), try expression.compiled())
    }.sorted { $0.column < $1.column }
  }
}

/// A column and what an update sets it to.
private struct Assignment: Sendable {
  let column: String
  let sql: String
  let values: [SQLValue]

  init(column: String, _ value: (sql: String, values: [SQLValue])) {
    self.column = column
    (sql, values) = value
  }

  var setting: String { "\(SQLName.quoted(column)) = \(sql)" }
  /// The condition that the row has another value.
  var differing: String { "\(SQLName.quoted(column)) IS NOT \(sql)" }
}

extension ModelTable {
  fileprivate func update(_ assignments: [Assignment]) -> String {
    "UPDATE \(SQLName.quoted(name)) SET \(assignments.map(\.setting).joined(separator: ", "))"
  }
}
