import BoutiqueDB

/// Makes and alters the table of a model, inside a transaction that has looked at it.
///
/// 1. Nothing is lost unless the model allows it: whatever does not fit is found first, and named.
/// 2. An error leaves the transaction to be undone; there is no half.
/// 3. What was made by hand stays: triggers, and indexes whose names are not ours, are made again after a
///    rebuild.
/// 4. Every column that must not be NULL has a default, so that the inserts of a program that does not know
///    it go on working.
struct SchemaAlteration {
  let table: ModelTable
  let connection: BoutiqueConnection
  /// Whether foreign keys are off, as they are in a transaction of the library's own.
  let isOwnTransaction: Bool

  private var name: String { SQLName.quoted(table.name) }

  // MARK: Making

  func create() throws {
    try connection.execute(definition())
    for index in table.indexes { try make(index) }
    try resolveSearch()
    try SchemaHistory.note(table, after: nil, on: connection)
  }

  /// Makes the full-text index, or makes it anew where it is not as the model needs it.
  @discardableResult
  private func resolveSearch() throws -> Bool {
    try SearchIndex(table.name)
      .resolve(columns: table.searchedColumns.map(\.name), on: connection)
  }

  private func definition() throws -> String {
    let keys = Set(table.primaryKeyNames)
    var parts = table.columns.map { definition(of: $0, isKey: keys.contains($0.name)) }
    let key = table.primaryKeyColumns
    // One whole number as the key is the rowid. For all other keys there is no rowid: change publishers
    // need the key of a row that is gone.
    let isRowID = key.count == 1 && key[0].type == .integer
    parts.append("PRIMARY KEY (\(list(table.primaryKeyNames)))")
    return
      "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))\(isRowID ? "" : " WITHOUT ROWID")"
  }

  private func definition(of column: ModelTable.Column, isKey: Bool) -> String {
    var text = "\(SQLName.quoted(column.name)) \(column.type.rawValue)"
    if isKey { return text + " NOT NULL" }
    if !column.isOptional {
      text += " NOT NULL"
      if let value = column.newValue { text += " DEFAULT \(literal(value))" }
    }
    return text
  }

  private func make(_ index: ModelTable.Index) throws {
    try connection.execute(
      "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQLName.quoted(table.indexName(index))) "
        + "ON \(name) (\(list(index.columns)))")
  }

  // MARK: Altering

  func alter(
    _ stored: StoredTable, _ difference: SchemaDifference
  ) throws -> BlackbirdModelSchemaResolution {
    var obstacles = try self.obstacles(stored, difference)
    let uniques = difference.missingIndexes.filter(\.isUnique)
    let mustThin =
      table.allowsInvalidRowDeletion
      && uniques.contains { (try? hasDuplicates($0, stored)) ?? true }
    if difference.needsRebuild || mustThin {
      try rebuild(stored, difference, &obstacles)
    } else {
      for index in uniques where index.columns.allSatisfy({ stored.column($0) != nil }) {
        if try hasDuplicates(index, stored) { obstacles.add(unfit: index) }
      }
      try obstacles.refuse(table)
      for column in difference.added {
        try connection.execute(
          "ALTER TABLE \(name) ADD COLUMN \(definition(of: column, isKey: false))")
      }
      for index in difference.extraIndexes {
        try connection.execute("DROP INDEX \(SQLName.quoted(index.name))")
      }
      for index in difference.missingIndexes {
        try uniquely("the index over (\(index.columns.joined(separator: ", ")))") {
          try make(index)
        }
      }
    }
    // After a rebuild its triggers are gone with the old table.
    let changedSearch = try resolveSearch()
    try SchemaHistory.note(table, after: stored, on: connection)
    var done: BlackbirdModelSchemaResolution = difference.changesTable ? .migratedTable : []
    if changedSearch { done.insert(.migratedFullTextIndex) }
    return done
  }

  private func refuse(_ description: String) -> BlackbirdTableError {
    .impossibleMigration(type: table.typeName, table: table.name, description: description)
  }

  /// Finds what stands in the way that can be told from the table as it is.
  private func obstacles(
    _ stored: StoredTable, _ difference: SchemaDifference
  ) throws -> SchemaObstacles {
    var obstacles = SchemaObstacles()
    if !table.allowsColumnDataDeletion {
      for column in difference.dropped {
        let quoted = SQLName.quoted(column.name)
        let count = try count(
          "\(quoted) IS NOT NULL AND \(quoted) IS NOT \(literal(column.type.zero))")
        if count > 0 { obstacles.add(dropped: column.name, count) }
      }
    }
    let keys = Set(table.primaryKeyNames)
    for column in difference.added {
      let hasValue = column.newValue.map { !($0.isNull && keys.contains(column.name)) } ?? false
      guard !hasValue else { continue }
      let count = try count("true")
      if count > 0 { obstacles.add(added: column, count) }
    }
    guard !table.allowsInvalidRowDeletion else { return obstacles }
    for column in difference.retyped {
      let quoted = SQLName.quoted(column.name)
      let count = try count(
        "\(quoted) IS NOT NULL AND NOT coalesce("
          + "\(SchemaConversion.isExact(quoted, to: column.type)), 0)")
      if count > 0 { obstacles.add(retyped: column, count) }
    }
    return obstacles
  }

  private func count(_ condition: String) throws -> Int64 {
    let row = try connection.queryOne("SELECT count(*) FROM \(name) WHERE \(condition)")
    guard case .integer(let count)? = row?[0] else { return 0 }
    return count
  }

  // MARK: Rebuilding

  /// Makes the table anew, with the rows that fit.
  ///
  /// Through a copy, and not by renaming: a renamed table makes SQLite look through all views and triggers,
  /// which fails on those that name the table that is missing for a moment.
  private func rebuild(
    _ stored: StoredTable, _ difference: SchemaDifference, _ obstacles: inout SchemaObstacles
  ) throws {
    if let reference = try reference() {
      obstacles.add(
        "\(reference) refers to it, which a transaction in progress would break; call "
          + "resolveSchema(in:) before")
    }
    for generated in stored.columns where generated.isGenerated {
      obstacles.add("its column \(generated.name) is computed, and would be lost")
    }
    for part in stored.partsMadeByHand(besides: table) {
      obstacles.add(
        "its definition has \(part), made by hand, which would be lost; alter the table by hand too, or make "
          + "it anew without that")
    }
    let kept = try objectsMadeByHand()
    let copy = "temp.blackbird_rebuild"
    let values = table.columns.map {
      "\(value(of: $0, stored, difference)) AS \(SQLName.quoted($0.name))"
    }
    try connection.execute("DROP TABLE IF EXISTS \(copy)")
    try connection.execute(
      "CREATE TEMP TABLE blackbird_rebuild AS SELECT \(values.joined(separator: ", ")) FROM \(name)"
    )
    try checkValues(in: copy, difference, &obstacles)
    try checkUniqueness(in: copy, &obstacles)
    try obstacles.refuse(table)
    try connection.execute("DROP TABLE \(name)")
    try connection.execute(definition())
    for index in table.indexes { try make(index) }
    let columns = list(table.columns.map(\.name))
    try uniquely("the new primary key or a unique index") {
      let conflict = table.allowsInvalidRowDeletion ? "INSERT OR IGNORE" : "INSERT"
      try connection.execute(
        "\(conflict) INTO \(name) (\(columns)) SELECT \(columns) FROM \(copy) ORDER BY rowid")
    }
    try connection.execute("DROP TABLE \(copy)")
    for object in kept {
      do {
        try connection.execute(object.sql)
      } catch let error as BoutiqueError {
        throw refuse("\(object.name), made by hand, does not fit the new table: \(error)")
      }
    }
  }

  /// The value of a column in the new table, as an expression over the old one.
  private func value(
    of column: ModelTable.Column, _ stored: StoredTable, _ difference: SchemaDifference
  ) -> String {
    let quoted = SQLName.quoted(column.name)
    if difference.added.contains(where: { $0.name == column.name }) {
      // Where there is none the table has no rows, or there is an obstacle.
      return literal(column.newValue ?? .null)
    }
    guard difference.retyped.contains(where: { $0.name == column.name }) else { return quoted }
    return "CASE WHEN \(quoted) IS NULL OR NOT coalesce("
      + "\(SchemaConversion.isExact(quoted, to: column.type)), 0) THEN NULL ELSE "
      + "\(SchemaConversion.converted(quoted, to: column.type)) END"
  }

  /// Finds values that the types of new and changed columns do not have, and deletes their rows where they may
  /// go.
  private func checkValues(
    in copy: String, _ difference: SchemaDifference, _ obstacles: inout SchemaObstacles
  ) throws {
    let checked = difference.added + difference.retyped + difference.tightened
    let keys = Set(table.primaryKeyNames)
    for column in checked
    where !column.isOptional || difference.retyped.contains(where: { $0.name == column.name }) {
      guard !obstacles.columns.contains(column.name) else { continue }
      let quoted = SQLName.quoted(column.name)
      var unfit: [SQLValue] = []
      try connection.forEachRow("SELECT DISTINCT \(quoted) FROM \(copy)") { row in
        if !column.accepts(row[0]) || row[0].isNull && keys.contains(column.name) {
          unfit.append(row[0])
        }
      }
      guard let first = unfit.first else { continue }
      guard table.allowsInvalidRowDeletion else {
        obstacles.add(
          first.isNull
            ? "rows have no value for the column \(column.name), which must have one"
            : "the value \(first) in the column \(column.name) is none of its type")
        continue
      }
      for value in unfit {
        try connection.execute("DELETE FROM \(copy) WHERE \(quoted) IS ?", value)
      }
    }
  }

  /// Finds a key and unique indexes that rows share, where these may not go.
  private func checkUniqueness(in copy: String, _ obstacles: inout SchemaObstacles) throws {
    guard !table.allowsInvalidRowDeletion else { return }
    // The values of a column with an obstacle are not those that it would have.
    let named = obstacles.columns
    let key = table.primaryKeyNames
    if named.isDisjoint(with: key), try hasDuplicates(key, in: copy) {
      obstacles.add("rows share the primary key (\(key.joined(separator: ", ")))")
    }
    for index in table.indexes where index.isUnique && named.isDisjoint(with: index.columns) {
      if try hasDuplicates(index.columns, in: copy) { obstacles.add(unfit: index) }
    }
  }

  private func hasDuplicates(_ index: ModelTable.Index, _ stored: StoredTable) throws -> Bool {
    guard index.columns.allSatisfy({ stored.column($0) != nil }) else { return true }
    return try hasDuplicates(index.columns, in: name)
  }

  private func hasDuplicates(_ columns: [String], in table: String) throws -> Bool {
    let nonNull = columns.map { "\(SQLName.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
    return try connection.queryOne(
      "SELECT 1 FROM \(table) WHERE \(nonNull) GROUP BY \(list(columns)) HAVING count(*) > 1")
      != nil
  }

  private func uniquely(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch BoutiqueError.sql(let code, let message) where code & 0xff == 19 {
      throw refuse("\(what) does not fit the rows that are there: \(message)")
    }
  }

  /// A table that refers to this one, where that hinders a rebuild.
  ///
  /// In a user's transaction foreign keys are on, and dropping the table would delete what refers to it.
  private func reference() throws -> String? {
    guard !isOwnTransaction else { return nil }
    let reference = try connection.queryOne(
      "SELECT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f "
        + "WHERE m.type = 'table' AND f.\"table\" = ? COLLATE NOCASE", table.name)
    guard case .text(let other)? = reference?[0] else { return nil }
    return other
  }

  private func objectsMadeByHand() throws -> [(name: String, sql: String)] {
    try connection.query(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL "
        + "AND type IN ('index', 'trigger')", table.name
    ).compactMap { row in
      guard case .text(let name) = row[0], case .text(let sql) = row[1] else { return nil }
      // The engine makes its own triggers again, and so does the full-text index.
      let isOurs =
        name.hasPrefix("boutiquedb_") || name.hasPrefix("\(table.name)+index+")
        || SearchIndex(table.name).isTrigger(name)
      return isOurs ? nil : (name, sql)
    }
  }

  // MARK: Text

  private func list(_ names: [String]) -> String {
    names.map { SQLName.quoted($0) }.joined(separator: ", ")
  }

  private func literal(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let value): Blackbird.Value.text(value).sqliteLiteral()
    case .blob(let bytes):
      "X'\(bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())'"
    }
  }
}
