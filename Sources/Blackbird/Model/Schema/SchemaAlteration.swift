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
    try refuseDroppedData(difference)
    let uniques = difference.missingIndexes.filter(\.isUnique)
    let mustThin =
      table.allowsInvalidRowDeletion
      && uniques.contains { (try? hasDuplicates($0, stored)) ?? true }
    if difference.needsRebuild || mustThin {
      try rebuild(stored, difference)
    } else {
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
    .impossibleMigration(type: table.typeName, description: description)
  }

  private func refuseDroppedData(_ difference: SchemaDifference) throws {
    guard !table.allowsColumnDataDeletion else { return }
    for column in difference.dropped {
      let column = (name: SQLName.quoted(column.name), zero: column.type.zero, plain: column.name)
      let held = try connection.queryOne(
        "SELECT count(*) FROM \(name) WHERE \(column.name) IS NOT NULL AND \(column.name) IS NOT ?",
        column.zero)
      guard case .integer(let count)? = held?[0], count > 0 else { continue }
      throw refuse(
        "\(count) rows hold a value in the column \(column.plain), which the type has no more; "
          + "droppedColumnDataResolution = .deleteData allows it to go")
    }
  }

  // MARK: Rebuilding

  /// Makes the table anew, with the rows that fit.
  ///
  /// Through a copy, and not by renaming: a renamed table makes SQLite look through all views and triggers,
  /// which fails on those that name the table that is missing for a moment.
  private func rebuild(_ stored: StoredTable, _ difference: SchemaDifference) throws {
    try refuseReferences()
    if let generated = stored.columns.first(where: \.isGenerated) {
      throw refuse("its column \(generated.name) is computed, and would be lost")
    }
    let kept = try objectsMadeByHand()
    let copy = "temp.blackbird_rebuild"
    let values = try table.columns.map {
      try "\(value(of: $0, stored, difference)) AS \(SQLName.quoted($0.name))"
    }
    try connection.execute("DROP TABLE IF EXISTS \(copy)")
    try connection.execute(
      "CREATE TEMP TABLE blackbird_rebuild AS SELECT \(values.joined(separator: ", ")) FROM \(name)"
    )
    try checkValues(in: copy, difference)
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
  ) throws -> String {
    let quoted = SQLName.quoted(column.name)
    if difference.added.contains(where: { $0.name == column.name }) {
      // A row with NULL where none may be is found, and refused or deleted, with the others.
      return literal(column.newValue ?? .null)
    }
    guard difference.retyped.contains(where: { $0.name == column.name }) else { return quoted }
    if !table.allowsInvalidRowDeletion {
      let count = try connection.queryOne(
        "SELECT count(*) FROM \(name) WHERE \(quoted) IS NOT NULL AND NOT coalesce("
          + "\(SchemaConversion.isExact(quoted, to: column.type)), 0)")
      if case .integer(let count)? = count?[0], count > 0 {
        throw refuse(
          "\(count) rows hold a value in the column \(column.name) that is no \(column.type.rawValue)"
        )
      }
    }
    return "CASE WHEN \(quoted) IS NULL OR NOT coalesce("
      + "\(SchemaConversion.isExact(quoted, to: column.type)), 0) THEN NULL ELSE "
      + "\(SchemaConversion.converted(quoted, to: column.type)) END"
  }

  /// Finds values that the types of new and changed columns do not have.
  private func checkValues(in copy: String, _ difference: SchemaDifference) throws {
    let checked = difference.added + difference.retyped + difference.tightened
    let keys = Set(table.primaryKeyNames)
    for column in checked
    where !column.isOptional || difference.retyped.contains(where: { $0.name == column.name }) {
      let quoted = SQLName.quoted(column.name)
      var unfit: [SQLValue] = []
      try connection.forEachRow("SELECT DISTINCT \(quoted) FROM \(copy)") { row in
        if !column.accepts(row[0]) || row[0].isNull && keys.contains(column.name) {
          unfit.append(row[0])
        }
      }
      guard let first = unfit.first else { continue }
      guard table.allowsInvalidRowDeletion else {
        throw refuse(
          first.isNull
            ? "rows have no value for the column \(column.name), which must have one"
            : "the value \(first) in the column \(column.name) is none of its type")
      }
      for value in unfit {
        try connection.execute("DELETE FROM \(copy) WHERE \(quoted) IS ?", value)
      }
    }
  }

  private func hasDuplicates(_ index: ModelTable.Index, _ stored: StoredTable) throws -> Bool {
    guard index.columns.allSatisfy({ stored.column($0) != nil }) else { return true }
    let nonNull = index.columns.map { "\(SQLName.quoted($0)) IS NOT NULL" }.joined(
      separator: " AND ")
    return try connection.queryOne(
      "SELECT 1 FROM \(name) WHERE \(nonNull) GROUP BY \(list(index.columns)) HAVING count(*) > 1")
      != nil
  }

  private func uniquely(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch BoutiqueError.sql(let code, let message) where code & 0xff == 19 {
      throw refuse("\(what) does not fit the rows that are there: \(message)")
    }
  }

  /// In a user's transaction foreign keys are on, and dropping the table would delete what refers to it.
  private func refuseReferences() throws {
    guard !isOwnTransaction else { return }
    let reference = try connection.queryOne(
      "SELECT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f "
        + "WHERE m.type = 'table' AND f.\"table\" = ? COLLATE NOCASE", table.name)
    guard case .text(let other)? = reference?[0] else { return }
    throw refuse(
      "\(other) refers to it, which a transaction in progress would break; call resolveSchema(in:) before"
    )
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

/// The conversion of a column's values to another type, and which values survive it.
private enum SchemaConversion {
  static func converted(_ column: String, to type: Blackbird.ColumnType) -> String {
    "CAST(\(column) AS \(type == .double ? "REAL" : type.rawValue))"
  }

  /// A condition that holds for values that can be converted back.
  static func isExact(_ column: String, to type: Blackbird.ColumnType) -> String {
    let integer = "CAST(\(column) AS INTEGER)"
    let real = "CAST(\(column) AS REAL)"
    let text = "CAST(\(column) AS TEXT)"
    let cases =
      switch type {
      case .integer:
        "WHEN 'integer' THEN 1 WHEN 'real' THEN \(column) = \(integer) "
          + "WHEN 'text' THEN \(column) = CAST(\(integer) AS TEXT)"
      case .double:
        "WHEN 'real' THEN 1 WHEN 'integer' THEN \(column) = CAST(\(real) AS INTEGER) "
          + "WHEN 'text' THEN \(column) IN (CAST(\(real) AS TEXT), CAST(\(integer) AS TEXT))"
      case .text:
        "WHEN 'text' THEN 1 WHEN 'integer' THEN 1 WHEN 'real' THEN \(column) = CAST(\(text) AS REAL)"
      case .data: "WHEN 'blob' THEN 1 WHEN 'text' THEN 1"
      }
    // A blob is no text, even where its bytes are: an empty one is.
    let blob =
      type == .data ? "" : " WHEN 'blob' THEN length(\(column)) = 0 AND \(type == .text ? 1 : 0)"
    return "CASE typeof(\(column)) \(cases)\(blob) ELSE 0 END"
  }
}
