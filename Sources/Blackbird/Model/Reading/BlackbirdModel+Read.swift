import BoutiqueDB

extension BlackbirdModel {
  // MARK: By key

  /// Returns the instance with a value of the column `id`; nil where there is none.
  ///
  /// - Throws: ``BlackbirdModelError``, ``BlackbirdTableError``, ``Blackbird/Database/Error``, or
  ///   `CancellationError`; so do all reads.
  public static func read(
    from database: Blackbird.Database, id: any Sendable
  ) async throws -> Self? {
    let table = try table
    return try await read(from: database, key: try table.key(id: id), table)
  }

  /// Returns the instance with a value of the primary key's one column; nil where there is none.
  public static func read(
    from database: Blackbird.Database, primaryKey: any Sendable
  ) async throws -> Self? {
    let table = try table
    return try await read(from: database, key: try table.key([primaryKey]), table)
  }

  /// Returns the instance with the values of a primary key, in its columns' order; nil where there is none.
  public static func read(
    from database: Blackbird.Database, multicolumnPrimaryKey: [any Sendable]
  ) async throws -> Self? {
    let table = try table
    return try await read(from: database, key: try table.key(multicolumnPrimaryKey), table)
  }

  /// Returns the instance with the values of a primary key, by column name; nil where there is none.
  public static func read(
    from database: Blackbird.Database, multicolumnPrimaryKey: [String: any Sendable]
  ) async throws -> Self? {
    let table = try table
    return try await read(from: database, key: try table.key(multicolumnPrimaryKey), table)
  }

  /// Returns the instances with values of the primary key's one column; keys without a row are passed over.
  ///
  /// - Parameter preserveOrder: whether the result has the keys' order, and a key that is given twice twice.
  public static func read(
    from database: Blackbird.Database, primaryKeys: [any Sendable], preserveOrder: Bool = false
  ) async throws -> [Self] {
    let table = try table
    let keys = try primaryKeys.map { try table.key([$0])[0] }
    guard !keys.isEmpty else { return [] }
    return try await database.read(table) { core in
      try core.instances(Self.self, keys: keys, inOrder: preserveOrder)
    }
  }

  static func read(
    from database: Blackbird.Database, key: [SQLValue], _ table: ModelTable
  ) async throws -> Self? {
    let request = cacheRequest(.row(of: Self.self, key: key))
    return try await database.read(
      table, request, weight: CacheRequest.one,
      { core in try core.instance(Self.self, key: key) })
  }

  // MARK: By condition

  /// Returns the instances that match a condition; all without one.
  ///
  /// ```swift
  /// try await Post.read(from: db, matching: \.$title == "Sports", orderBy: .descending(\.$id), limit: 10)
  /// ```
  public static func read(
    from database: Blackbird.Database, matching: BlackbirdModelColumnExpression<Self>? = nil,
    orderBy: BlackbirdModelOrderClause<Self>..., limit: Int? = nil, offset: Int? = nil
  ) async throws -> [Self] {
    let table = try table
    return try await read(
      from: database,
      try ModelSelect(
        table.statements.selectAll, matching: matching, orderBy: orderBy, limit: limit,
        offset: offset), table)
  }

  /// Returns how many rows match a condition; all without one.
  public static func count(
    in database: Blackbird.Database, matching: BlackbirdModelColumnExpression<Self>? = nil
  ) async throws -> Int {
    let table = try table
    let select = try ModelSelect(table.statements.count, matching: matching)
    return try await database.read(
      table, cacheRequest(select.cacheRequest), weight: CacheRequest.one,
      { core in try core.count(select) })
  }

  static func read(
    from database: Blackbird.Database, _ select: ModelSelect<Self>, _ table: ModelTable
  ) async throws -> [Self] {
    try await database.read(table, cacheRequest(select.cacheRequest), weight: \.count) { core in
      try core.instances(select)
    }
  }

  // MARK: By SQL

  /// Returns the instances for the part of a statement behind `WHERE`, with `?` for each value.
  ///
  /// ```swift
  /// try await Post.read(from: db, sqlWhere: "state = ? ORDER BY time DESC", 1)
  /// ```
  ///
  /// `$T` is the table's name.
  public static func read(
    from database: Blackbird.Database, sqlWhere: String, _ arguments: (any Sendable)?...
  ) async throws -> [Self] {
    try await read(from: database, sqlWhere: sqlWhere, arguments: arguments)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with a list of values.
  public static func read(
    from database: Blackbird.Database, sqlWhere: String, arguments: [(any Sendable)?]
  ) async throws -> [Self] {
    let table = try table
    let values = try arguments.map { try ModelArgument.stored($0) }
    return try await read(from: database, ModelSelect(table, sqlWhere: sqlWhere, values), table)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with named values.
  ///
  /// - Parameter arguments: by parameter name, with its `:`, `@` or `$`.
  public static func read(
    from database: Blackbird.Database, sqlWhere: String, arguments: [String: (any Sendable)?]
  ) async throws -> [Self] {
    let table = try table
    let named = try ModelArgument.stored(arguments)
    return try await read(
      from: database, ModelSelect(table, sqlWhere: sqlWhere, named: named), table)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with values by key path.
  ///
  /// - Parameter arguments: that of `\.$title` is named `:title`.
  public static func read(
    from database: Blackbird.Database, sqlWhere: String,
    arguments: [BlackbirdColumnKeyPath: (any Sendable)?]
  ) async throws -> [Self] {
    let table = try table
    let named = try table.named(arguments)
    return try await read(
      from: database, ModelSelect(table, sqlWhere: sqlWhere, named: named), table)
  }
}

extension ModelTable {
  /// Returns arguments by parameter name for arguments by key path.
  func named<Root>(
    _ arguments: [any PartialKeyPath<Root> & Sendable: (any Sendable)?]
  ) throws -> [String: SQLValue] {
    var named: [String: SQLValue] = [:]
    for (path, value) in arguments {
      let column = try column(path)
      named[":" + column.name] = try stored(value, for: column)
    }
    return named
  }
}

extension Blackbird.Database.Core {
  /// Returns the one number of a statement.
  func count<T>(_ select: ModelSelect<T>) throws -> Int {
    var count = 0
    try forEachRow(select) { count = Int._restored($0[0]) ?? 0 }
    return count
  }
}
