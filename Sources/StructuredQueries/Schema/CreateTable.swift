// `CREATE TABLE` and `CREATE INDEX` from a table's description. SQLite allows no parameters there, so
// checks, defaults and generated expressions are SQL text from the program's source.

extension Table {
  /// Returns the statement that makes the table.
  ///
  /// - Parameter ifNotExists: leaves a table of the name alone, whatever its columns are.
  public static func createTable(ifNotExists: Bool = false) -> SQLFragment {
    let schema = tableSchema
    // A key of one column stands in its column's definition: only so an INTEGER key is the row id.
    let isSingleKey = schema.keyColumns.count == 1
    var parts = schema.columns.map { $0.sql(isKey: isSingleKey && $0.isPrimaryKey) }
    if schema.keyColumns.count > 1 {
      parts.append("PRIMARY KEY (\(list(schema.keyColumns.map(\.name))))")
    }
    parts += schema.options.unique.map { "UNIQUE (\(list($0)))" }
    parts += schema.options.checks.map { "CHECK (\($0))" }
    parts += schema.options.foreignKeys.map(\.sql)
    var sql = "CREATE TABLE \(ifNotExists ? "IF NOT EXISTS " : "")"
    sql += "\(quoted(identifier: schema.name)) (\(parts.joined(separator: ", ")))"
    var options: [String] = []
    if schema.options.isStrict { options.append("STRICT") }
    if schema.options.isWithoutRowID { options.append("WITHOUT ROWID") }
    if !options.isEmpty { sql += " \(options.joined(separator: ", "))" }
    return SQLFragment(raw: sql)
  }

  /// Returns the statements that make the indexes: those of the table and of its indexed columns.
  public static func createIndexes(ifNotExists: Bool = false) -> [SQLFragment] {
    let schema = tableSchema
    let ofColumns = schema.columns.filter(\.isIndexed).map {
      TableIndex(columns: [$0.name], isUnique: false, condition: nil, name: nil)
    }
    return (schema.options.indexes + ofColumns).map { index in
      let name = index.name ?? ([schema.name] + index.columns).joined(separator: "_")
      var sql = "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX "
      sql += "\(ifNotExists ? "IF NOT EXISTS " : "")\(quoted(identifier: name)) "
      sql += "ON \(quoted(identifier: schema.name)) (\(list(index.columns)))"
      if let condition = index.condition { sql += " WHERE \(condition)" }
      return SQLFragment(raw: sql)
    }
  }

  /// Returns the statement that drops the table.
  public static func dropTable(ifExists: Bool = false) -> SQLFragment {
    SQLFragment(raw: "DROP TABLE \(ifExists ? "IF EXISTS " : "")\(quoted(identifier: tableName))")
  }
}

extension ColumnDefinition {
  fileprivate func sql(isKey: Bool) -> String {
    var sql = quoted(identifier: name)
    if case .column(let type, let isNullable) = storage {
      sql += " \(type.rawValue)"
      if isKey { sql += " PRIMARY KEY" }
      // SQLite lets NULL into primary keys of ordinary tables unless told otherwise.
      if !isNullable { sql += " NOT NULL" }
    }
    if isUnique { sql += " UNIQUE" }
    if let defaultValue { sql += " DEFAULT \(defaultValue.sql)" }
    if let check { sql += " CHECK (\(check))" }
    if let collation { sql += " COLLATE \(quoted(identifier: collation.name))" }
    if let reference { sql += " \(reference.sql)" }
    if let generated, let expression {
      sql += " GENERATED ALWAYS AS (\(expression)) \(generated.rawValue)"
    }
    return sql
  }
}
