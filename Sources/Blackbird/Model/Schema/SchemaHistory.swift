import BoutiqueDB

/// The shapes that a table has had, in order, so that an older program knows that it is one.
///
/// Without it a model that has a column less could not be told from one that has lost a column: an older
/// program that starts again would drop what a newer one has just added. Each program that makes or alters a
/// table writes the shape down, in the same transaction. A shape that was written down before the newest is
/// an older program's; it alters nothing.
///
/// Who goes back to an earlier shape on purpose (`resolveSchema(in:goingBack:)`) makes it the newest again.
enum SchemaHistory {
  static let table = "blackbird_schema"

  enum Place {
    /// Nobody has had this shape; also where there is no history.
    case unknown
    /// It is the newest.
    case newest
    /// Others came after it.
    case older
  }

  static func place(of table: ModelTable, on connection: BoutiqueConnection) throws -> Place {
    guard try exists(on: connection) else { return .unknown }
    let row = try connection.queryOne(
      "SELECT number, (SELECT max(number) FROM \(self.table) WHERE name = ?1) FROM \(self.table) "
        + "WHERE name = ?1 AND shape = ?2", table.name, table.shape)
    guard let row else { return .unknown }
    return row[0] == row[1] ? .newest : .older
  }

  /// Whether a table has had several shapes.
  static func isAltered(_ table: ModelTable, on connection: BoutiqueConnection) throws -> Bool {
    guard try exists(on: connection) else { return false }
    return try connection.queryOne(
      "SELECT 1 FROM \(self.table) WHERE name = ? LIMIT 1 OFFSET 1", table.name) != nil
  }

  /// Notes that a table has a shape now, and which one it had before where that was not known.
  static func note(
    _ table: ModelTable, after stored: StoredTable?, on connection: BoutiqueConnection
  ) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(self.table) (name TEXT NOT NULL, shape TEXT NOT NULL, "
        + "number INTEGER NOT NULL, PRIMARY KEY (name, shape)) WITHOUT ROWID")
    let insert =
      "INSERT INTO \(self.table) SELECT ?1, ?2, (SELECT coalesce(max(number), 0) + 1 FROM "
      + "\(self.table) WHERE name = ?1) WHERE true ON CONFLICT DO "
    if let stored {
      try connection.execute(insert + "NOTHING", table.name, stored.shape(for: table))
    }
    try connection.execute(insert + "UPDATE SET number = excluded.number", table.name, table.shape)
  }

  private static func exists(on connection: BoutiqueConnection) throws -> Bool {
    try connection.queryOne(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table) != nil
  }
}

extension ModelTable {
  /// The table as a text that is the same whenever the table is.
  var shape: String {
    let keys = Set(primaryKeyNames)
    return SchemaShape.text(
      columns.map { ($0.name, $0.type, !$0.isOptional || keys.contains($0.name)) },
      key: primaryKeyNames, indexes: indexes, searched: searchedColumns.map(\.name))
  }
}

extension StoredTable {
  /// The table as a model's would be: without what was made by hand.
  func shape(for table: ModelTable) -> String {
    let keys = Set(primaryKey)
    return SchemaShape.text(
      columns.filter { !$0.isGenerated }.map {
        ($0.name, $0.type, $0.isNotNull || keys.contains($0.name))
      },
      key: primaryKey,
      indexes: indexes.filter { table.isOwn($0) }.map {
        ModelTable.Index(columns: $0.columns, isUnique: $0.isUnique)
      }, searched: searchedColumns)
  }
}

private enum SchemaShape {
  static func text(
    _ columns: [(name: String, type: Blackbird.ColumnType, isNotNull: Bool)], key: [String],
    indexes: [ModelTable.Index], searched: [String]
  ) -> String {
    let columns = columns.map {
      "\(SQLName.quoted($0.name)) \($0.type.rawValue)\($0.isNotNull ? " NOT NULL" : "")"
    }.sorted()
    func list(_ names: [String]) -> String {
      names.map { SQLName.quoted($0) }.joined(separator: ", ")
    }
    let indexes = indexes.map { ($0.isUnique ? "UNIQUE (" : "INDEX (") + list($0.columns) + ")" }
      .sorted()
    let search = searched.isEmpty ? [] : ["SEARCH (\(list(searched)))"]
    return (columns + ["PRIMARY KEY (\(list(key)))"] + indexes + search).joined(separator: "; ")
  }
}
