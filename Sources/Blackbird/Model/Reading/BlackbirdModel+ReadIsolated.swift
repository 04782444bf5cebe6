import BoutiqueDB

// What `BlackbirdModel+Read.swift` has, inside a transaction.

extension BlackbirdModel {
  /// Returns the instance with a value of the column `id`; nil where there is none.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core, id: any Sendable
  ) throws -> Self? {
    try core.require(database)
    return try readIsolated(core, key: try core.use(Self.self).table.key(id: id))
  }

  /// Returns the instance with a value of the primary key's one column; nil where there is none.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    primaryKey: any Sendable
  ) throws -> Self? {
    try core.require(database)
    return try readIsolated(core, key: try table.key([primaryKey]))
  }

  /// Returns the instance with the values of a primary key, in its columns' order; nil where there is none.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    multicolumnPrimaryKey: [any Sendable]
  ) throws -> Self? {
    try core.require(database)
    return try readIsolated(core, key: try table.key(multicolumnPrimaryKey))
  }

  /// Returns the instance with the values of a primary key, by column name; nil where there is none.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    multicolumnPrimaryKey: [String: any Sendable]
  ) throws -> Self? {
    try core.require(database)
    return try readIsolated(core, key: try table.key(multicolumnPrimaryKey))
  }

  /// Returns the instances with values of the primary key's one column; keys without a row are passed over.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    primaryKeys: [any Sendable], preserveOrder: Bool = false
  ) throws -> [Self] {
    try core.require(database)
    let table = try table
    let keys = try primaryKeys.map { try table.key([$0])[0] }
    try core.prepare(table)
    return try core.instances(Self.self, keys: keys, inOrder: preserveOrder)
  }

  /// Returns the instances that match a condition; all without one.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    matching: BlackbirdModelColumnExpression<Self>? = nil,
    orderBy: BlackbirdModelOrderClause<Self>..., limit: Int? = nil, offset: Int? = nil
  ) throws -> [Self] {
    try core.require(database)
    let table = try table
    return try readIsolated(
      core,
      try ModelSelect(
        table.statements.selectAll, matching: matching, orderBy: orderBy, limit: limit,
        offset: offset), table)
  }

  /// Returns how many rows match a condition; all without one.
  public static func countIsolated(
    in database: Blackbird.Database, core: isolated Blackbird.Database.Core,
    matching: BlackbirdModelColumnExpression<Self>? = nil
  ) throws -> Int {
    try core.require(database)
    let table = try table
    try core.prepare(table)
    return try core.count(try ModelSelect(table.statements.count, matching: matching))
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with `?` for each value.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core, sqlWhere: String,
    _ arguments: (any Sendable)?...
  ) throws -> [Self] {
    try core.require(database)
    return try readIsolated(from: database, core: core, sqlWhere: sqlWhere, arguments: arguments)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with a list of values.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core, sqlWhere: String,
    arguments: [(any Sendable)?]
  ) throws -> [Self] {
    try core.require(database)
    let table = try table
    let values = try arguments.map { try ModelArgument.stored($0) }
    return try readIsolated(core, ModelSelect(table, sqlWhere: sqlWhere, values), table)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with named values.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core, sqlWhere: String,
    arguments: [String: (any Sendable)?]
  ) throws -> [Self] {
    try core.require(database)
    let table = try table
    let named = try ModelArgument.stored(arguments)
    return try readIsolated(core, ModelSelect(table, sqlWhere: sqlWhere, named: named), table)
  }

  /// Returns the instances for the part of a statement behind `WHERE`, with values by key path.
  public static func readIsolated(
    from database: Blackbird.Database, core: isolated Blackbird.Database.Core, sqlWhere: String,
    arguments: [BlackbirdColumnKeyPath: (any Sendable)?]
  ) throws -> [Self] {
    try core.require(database)
    let table = try table
    let named = try table.named(arguments)
    return try readIsolated(core, ModelSelect(table, sqlWhere: sqlWhere, named: named), table)
  }

  private static func readIsolated(
    _ core: isolated Blackbird.Database.Core, key: [SQLValue]
  ) throws -> Self? {
    try core.prepare(try core.use(Self.self))
    return try core.instance(Self.self, key: key)
  }

  private static func readIsolated(
    _ core: isolated Blackbird.Database.Core, _ select: ModelSelect<Self>, _ table: ModelTable
  ) throws -> [Self] {
    try core.prepare(try core.use(Self.self))
    return try core.instances(select)
  }
}
