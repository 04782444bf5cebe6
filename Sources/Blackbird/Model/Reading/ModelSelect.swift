import BoutiqueDB

/// A statement that reads a model's rows.
struct ModelSelect<T: BlackbirdModel>: Sendable {
  var sql: String
  var values: [SQLValue] = []
  var named: [String: SQLValue]?
  /// Whether it reads the model's table and no other, and gives the same for the same rows.
  private(set) var isRepeatable = false
  /// Whether it reads every row of the table.
  private(set) var readsAll = false

  init(sql: String, values: [SQLValue] = [], named: [String: SQLValue]? = nil) {
    self.sql = sql
    self.values = values
    self.named = named
  }

  /// A statement by condition, order and number.
  init(
    _ start: String, matching: BlackbirdModelColumnExpression<T>?,
    orderBy: [BlackbirdModelOrderClause<T>] = [], limit: Int? = nil, offset: Int? = nil
  ) throws {
    sql = start
    readsAll = matching == nil && limit == nil && offset == nil
    isRepeatable = matching?.isRepeatable ?? true && orderBy.allSatisfy(\.isRepeatable)
    if let matching {
      let (condition, arguments) = try matching.compiled()
      if let condition { sql += " WHERE \(condition)" }
      values = arguments
    }
    if !orderBy.isEmpty {
      sql += " ORDER BY \(try orderBy.map { try $0.text() }.joined(separator: ", "))"
    }
    guard limit != nil || offset != nil else { return }
    // As values, so that pages share one compiled statement.
    sql += " LIMIT ?"
    values.append(.integer(limit.map(Int64.init) ?? -1))
    if let offset {
      sql += " OFFSET ?"
      values.append(.integer(Int64(offset)))
    }
  }

  /// A statement for all columns with the part behind `WHERE` in SQL.
  init(_ table: ModelTable, sqlWhere: String, _ values: [SQLValue]) {
    sql = "\(table.statements.selectAll) WHERE \(table.expanded(sqlWhere))"
    self.values = values
  }

  /// A statement for all columns with the part behind `WHERE` in SQL and named values.
  init(_ table: ModelTable, sqlWhere: String, named: [String: SQLValue]) {
    sql = "\(table.statements.selectAll) WHERE \(table.expanded(sqlWhere))"
    self.named = named
  }
}

extension Blackbird.Database.Core {
  /// Calls `body` with each row of a statement.
  func forEachRow<T>(_ select: ModelSelect<T>, _ body: (Row) throws -> Void) throws {
    if let named = select.named {
      database.log(select.sql, .dictionary(named.mapValues { Blackbird.Value($0) }))
      try Blackbird.Database.Error.translating(select.sql) {
        try connection().prepare(select.sql).forEachRow(named: named, body)
      }
    } else {
      database.log(select.sql, .list(select.values.map { Blackbird.Value($0) }))
      try Blackbird.Database.Error.translating(select.sql) {
        try connection().forEachRow(select.sql, arguments: select.values, body)
      }
    }
  }

  /// Returns the instances of a statement for all columns.
  func instances<T: BlackbirdModel>(_ select: ModelSelect<T>) throws -> [T] {
    try use(T.self).withDecoder { decoder in
      var instances: [T] = []
      guard select.named == nil else {
        try forEachRow(select) { instances.append(try decoder.instance(T.self, of: $0.values)) }
        return instances
      }
      if let rows = try rowCount(of: select) { instances.reserveCapacity(rows) }
      try readRows(RepeatedSQL(once: select.sql), select.values) {
        instances.append(try decoder.instance(T.self, at: $0))
      }
      return instances
    }
  }

  /// Returns the instance with a primary key.
  func instance<T: BlackbirdModel>(_ type: T.Type, key: [SQLValue]) throws -> T? {
    let use = try use(T.self)
    return try use.withDecoder { decoder in
      var instance: T?
      try readRows(use.table.statements.selectByKey, key) { cells in
        if instance == nil { instance = try decoder.instance(T.self, at: cells) }
      }
      return instance
    }
  }

  /// Returns the instances with primary keys of one column.
  func instances<T: BlackbirdModel>(
    _ type: T.Type, keys: [SQLValue], inOrder: Bool
  ) throws -> [T] {
    // One statement for all keys, however many: lists are bounded, and each length would be another text.
    let use = try use(T.self)
    return try use.withDecoder { decoder in
      var seen: Set<SQLValue> = []
      var instances: [T] = []
      for key in keys where inOrder || seen.insert(key).inserted {
        try readRows(use.table.statements.selectByKey, [key]) {
          instances.append(try decoder.instance(T.self, at: $0))
        }
      }
      return instances
    }
  }

  /// Returns how many rows a statement gives that reads all of a table; nil for others.
  ///
  /// SQLite counts a table many times quicker than it reads it, in the same snapshot. A list that grows by doubling
  /// would be copied again and again, and have up to three times its size while it is.
  private func rowCount<T: BlackbirdModel>(of select: ModelSelect<T>) throws -> Int? {
    guard select.readsAll else { return nil }
    var count: Int?
    try readRows(RepeatedSQL(once: try use(T.self).table.statements.count), []) {
      count = Int._restored(BlackbirdCell($0, 0))
    }
    return count
  }

  private func readRows(
    _ sql: RepeatedSQL, _ values: [SQLValue], _ body: (UnsafePointer<UInt64>) throws -> Void
  ) throws {
    database.log(sql.text, .list(values.map { Blackbird.Value($0) }))
    try Blackbird.Database.Error.translating(sql.text) {
      try values.withUnsafeBufferPointer { try connection().readRows(sql, values: $0, body) }
    }
  }

  /// Returns the rows of a statement.
  func modelRows<T: BlackbirdModel>(
    _ select: ModelSelect<T>, _ table: ModelTable
  ) throws -> [Blackbird.ModelRow<T>] {
    var rows: [Blackbird.ModelRow<T>] = []
    var shape: ModelRowShape?
    try forEachRow(select) { row in
      if shape?.names != row.columns { shape = ModelRowShape(row.columns, table) }
      if let shape { rows.append(Blackbird.ModelRow(try shape.checked(row.values), shape)) }
    }
    return rows
  }
}
