import BoutiqueDB

extension BlackbirdModel {
  // MARK: Some columns

  /// Returns some columns of the rows that match a condition; of all rows without one.
  ///
  /// ```swift
  /// for row in try await Post.query(in: db, columns: [\.$id, \.$image], matching: \.$url != nil) {
  ///   let id = row[\.$id]
  /// }
  /// ```
  public static func query(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath],
    matching: BlackbirdModelColumnExpression<Self>? = nil,
    orderBy: BlackbirdModelOrderClause<Self>..., limit: Int? = nil, offset: Int? = nil
  ) async throws -> [Blackbird.ModelRow<Self>] {
    let table = try table
    let select = try ModelSelect(
      try table.select(columns), matching: matching, orderBy: orderBy, limit: limit, offset: offset)
    return try await database.read(table, cacheRequest { select.cacheRequest }, weight: \.count) {
      core in try core.modelRows(select, table)
    }
  }

  /// Returns some columns of the row with a value of the primary key's one column; nil where there is none.
  public static func query(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath], primaryKey: any Sendable
  ) async throws -> Blackbird.ModelRow<Self>? {
    try await query(in: database, columns: columns, multicolumnPrimaryKey: [primaryKey])
  }

  /// Returns some columns of the row with the values of a primary key; nil where there is none.
  public static func query(
    in database: Blackbird.Database, columns: [BlackbirdColumnKeyPath],
    multicolumnPrimaryKey: [any Sendable]
  ) async throws -> Blackbird.ModelRow<Self>? {
    let table = try table
    let select = ModelSelect<Self>(
      sql: "\(try table.select(columns)) \(table.statements.whereKey)",
      values: try table.key(multicolumnPrimaryKey))
    return try await database.read(table) { core in try core.modelRows(select, table) }.first
  }

  /// Returns some columns of the rows that match a condition; of all rows without one.
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    columns: [BlackbirdColumnKeyPath], matching: BlackbirdModelColumnExpression<Self>? = nil,
    orderBy: BlackbirdModelOrderClause<Self>..., limit: Int? = nil, offset: Int? = nil
  ) throws -> [Blackbird.ModelRow<Self>] {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    return try core.modelRows(
      try ModelSelect(
        try table.select(columns), matching: matching, orderBy: orderBy, limit: limit,
        offset: offset), table)
  }

  /// Returns some columns of the row with a value of the primary key's one column; nil where there is none.
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    columns: [BlackbirdColumnKeyPath], primaryKey: any Sendable
  ) throws -> Blackbird.ModelRow<Self>? {
    try core.require(database)
    return try queryIsolated(
      in: database, core: core, columns: columns, multicolumnPrimaryKey: [primaryKey])
  }

  /// Returns some columns of the row with the values of a primary key; nil where there is none.
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    columns: [BlackbirdColumnKeyPath], multicolumnPrimaryKey: [any Sendable]
  ) throws -> Blackbird.ModelRow<Self>? {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    let select = ModelSelect<Self>(
      sql: "\(try table.select(columns)) \(table.statements.whereKey)",
      values: try table.key(multicolumnPrimaryKey))
    return try core.modelRows(select, table).first
  }

  // MARK: Any statement

  /// Runs any statement, with `$T` for the table's name and `?` for each value, and returns its rows.
  @discardableResult
  public static func query(
    in database: Blackbird.Database, _ query: String, _ arguments: (any Sendable)?...
  ) async throws -> [Blackbird.ModelRow<Self>] {
    try await self.query(in: database, query, arguments: arguments)
  }

  /// Runs any statement with a list of values, and returns its rows.
  @discardableResult
  public static func query(
    in database: Blackbird.Database, _ query: String, arguments: [(any Sendable)?]
  ) async throws -> [Blackbird.ModelRow<Self>] {
    let table = try table
    let values = try arguments.map { try ModelArgument.stored($0) }
    return try await run(
      ModelSelect(sql: table.expanded(query), values: values), in: database, table)
  }

  /// Runs any statement with named values, and returns its rows.
  ///
  /// - Parameter arguments: by parameter name, with its `:`, `@` or `$`.
  @discardableResult
  public static func query(
    in database: Blackbird.Database, _ query: String, arguments: [String: (any Sendable)?]
  ) async throws -> [Blackbird.ModelRow<Self>] {
    let table = try table
    let named = try ModelArgument.stored(arguments)
    return try await run(ModelSelect(sql: table.expanded(query), named: named), in: database, table)
  }

  /// Runs any statement with values by key path, and returns its rows.
  ///
  /// - Parameter arguments: that of `\.$title` is named `:title`.
  @discardableResult
  public static func query(
    in database: Blackbird.Database, _ query: String,
    arguments: [BlackbirdColumnKeyPath: (any Sendable)?]
  ) async throws -> [Blackbird.ModelRow<Self>] {
    let table = try table
    let named = try table.named(arguments)
    return try await run(ModelSelect(sql: table.expanded(query), named: named), in: database, table)
  }

  private static func run(
    _ select: ModelSelect<Self>, in database: Blackbird.Database, _ table: ModelTable
  ) async throws -> [Blackbird.ModelRow<Self>] {
    try await database.retrying(table) {
      try await database.run(select.sql) { core in
        try core.requireKnown(table)
        return try core.modelRows(select, table)
      }
    }
  }

  /// Runs any statement, with `$T` for the table's name and `?` for each value, and returns its rows.
  @discardableResult
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core, _ query: String,
    _ arguments: (any Sendable)?...
  ) throws -> [Blackbird.ModelRow<Self>] {
    try core.require(database)
    return try queryIsolated(in: database, core: core, query, arguments: arguments)
  }

  /// Runs any statement with a list of values, and returns its rows.
  @discardableResult
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core, _ query: String,
    arguments: [(any Sendable)?]
  ) throws -> [Blackbird.ModelRow<Self>] {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    let values = try arguments.map { try ModelArgument.stored($0) }
    return try core.modelRows(ModelSelect(sql: table.expanded(query), values: values), table)
  }

  /// Runs any statement with named values, and returns its rows.
  @discardableResult
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core, _ query: String,
    arguments: [String: (any Sendable)?]
  ) throws -> [Blackbird.ModelRow<Self>] {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    let named = try ModelArgument.stored(arguments)
    return try core.modelRows(ModelSelect(sql: table.expanded(query), named: named), table)
  }

  /// Runs any statement with values by key path, and returns its rows.
  @discardableResult
  public static func queryIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core, _ query: String,
    arguments: [BlackbirdColumnKeyPath: (any Sendable)?]
  ) throws -> [Blackbird.ModelRow<Self>] {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    let named = try table.named(arguments)
    return try core.modelRows(ModelSelect(sql: table.expanded(query), named: named), table)
  }
}

extension ModelTable {
  /// Returns the beginning of a statement for some columns.
  func select<Root>(_ columns: [any PartialKeyPath<Root> & Sendable]) throws -> String {
    guard !columns.isEmpty else {
      throw BlackbirdModelError.argumentInvalid(
        type: typeName, description: "a query needs at least one column")
    }
    let names = try columns.map { SQLName.quoted(try name(of: $0)) }
    return "SELECT \(names.joined(separator: ", ")) FROM \(SQLName.quoted(name))"
  }
}
