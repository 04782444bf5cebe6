import BoutiqueDB

extension SearchIndex {
  /// Whether the objects are as a model with these searched columns needs them.
  ///
  /// - Parameter columns: the names of the columns that are searched; empty for no index.
  func isResolved(columns: [String], on connection: BoutiqueConnection) throws -> Bool {
    if try !foreignObjects(on: connection).isEmpty { return false }
    let present = try objects(on: connection)
    guard !columns.isEmpty else { return present.isEmpty }
    guard let key = try key(on: connection) else { return false }
    let wanted = definition(columns: columns, key: key)
    return present.count == wanted.count && wanted.allSatisfy { present[$0.name] == $0.sql }
  }

  /// Makes the objects as a model with these searched columns needs them, and indexes all rows where
  /// anything had to be made.
  ///
  /// Run it in the transaction that makes or alters the table, after the alteration. An alteration that drops
  /// a column drops the table first, and the triggers with it: SQLite drops no column that a trigger names.
  ///
  /// - Returns: whether anything was changed.
  @discardableResult
  func resolve(columns: [String], on connection: BoutiqueConnection) throws -> Bool {
    if try isResolved(columns: columns, on: connection) { return false }
    try removeForeignObjects(on: connection)
    // Whether a note is missing cannot be told once triggers were gone, so all rows are read anew.
    try remove(on: connection)
    guard !columns.isEmpty, let key = try key(on: connection) else { return true }
    for object in definition(columns: columns, key: key) { try connection.execute(object.sql) }
    try fill(columns: columns, key: key, on: connection)
    return true
  }

  /// Removes everything that belongs to the index.
  func remove(on connection: BoutiqueConnection) throws {
    for trigger in triggers { try connection.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))") }
    for table in [name, notes, keys] {
      try connection.execute("DROP TABLE IF EXISTS \(quoted(table))")
    }
  }

  /// Makes the index anew from the rows, where SQLite has found it damaged.
  func rebuild(on connection: BoutiqueConnection) throws {
    let columns = try indexedColumns(on: connection)
    try remove(on: connection)
    try resolve(columns: columns.map(Self.sourceName), on: connection)
  }

  /// The columns of the index, in its order; empty where there is none.
  ///
  /// From its text: SQLite does not open an FTS5 table that is damaged badly enough.
  func indexedColumns(on connection: BoutiqueConnection) throws -> [String] {
    let row = try connection.queryOne("SELECT sql FROM sqlite_schema WHERE name = ?", name)
    guard case .text(let sql)? = row?[0], let start = sql.firstRange(of: "USING fts5("),
      let end = sql.firstRange(of: ", tokenize =")
    else { return [] }
    return sql[start.upperBound..<end.lowerBound].split(separator: ", ").map {
      String($0.unicodeScalars.dropFirst().dropLast()).undoubling("\"")
    }
  }

  private func objects(on connection: BoutiqueConnection) throws -> [String: String] {
    let names = [name, notes, keys] + triggers
    let places = names.map { _ in "?" }.joined(separator: ", ")
    var found: [String: String] = [:]
    for row in try connection.query(
      "SELECT name, sql FROM sqlite_schema WHERE name IN (\(places))", arguments: names)
    {
      found[try row.decode("name", as: String.self)] = try row.decode("sql", as: String?.self) ?? ""
    }
    return found
  }

  private func fill(columns: [String], key: Key, on connection: BoutiqueConnection) throws {
    let sources = columns.map { "t.\(quoted($0))" }.joined(separator: ", ")
    let targets = columns.map { quoted(Self.columnName(of: $0)) }.joined(separator: ", ")
    let names = key.names.map(quoted).joined(separator: ", ")
    guard !key.isRowID else {
      try connection.execute(
        "INSERT INTO \(quoted(name)) (rowid, \(targets)) SELECT t.\(names), \(sources) "
          + "FROM \(quoted(table)) t")
      return
    }
    let places = key.names.indices.map { quoted("k\($0)") }.joined(separator: ", ")
    try connection.execute(
      "INSERT INTO \(quoted(keys)) (\(places)) SELECT \(names) FROM \(quoted(table))")
    try connection.execute(
      "INSERT INTO \(quoted(name)) (rowid, \(targets)) SELECT m.doc, \(sources) "
        + "FROM \(quoted(keys)) m JOIN \(quoted(table)) t ON \(sameKey(key, "t"))")
  }

  /// The condition that a row of the table has the key of `m`, a row of the notes or of the map.
  func sameKey(_ key: Key, _ row: String, _ other: String = "m") -> String {
    key.names.enumerated().map { "\(row).\(quoted($1)) IS \(other).\(quoted("k\($0)"))" }
      .joined(separator: " AND ")
  }

  // MARK: Files made on Apple systems

  /// The objects by which Blackbird on Apple systems keeps an index.
  ///
  /// Its triggers write into the FTS5 table, so that no connection of ours could write a row of the table.
  /// It makes what is missing when it opens the file again.
  private func foreignObjects(on connection: BoutiqueConnection) throws -> [String] {
    let names = foreignTriggers + ["\(table)+FTS"]
    return try connection.query(
      "SELECT name FROM sqlite_schema WHERE name IN (?, ?, ?, ?)", arguments: names
    ).map { try $0.decode("name", as: String.self) }
  }

  private func removeForeignObjects(on connection: BoutiqueConnection) throws {
    let names = try foreignObjects(on: connection)
    for name in names where name != "\(table)+FTS" {
      try connection.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
    if names.contains("\(table)+FTS") {
      try connection.execute("DROP TABLE IF EXISTS \(quoted("\(table)+FTS"))")
    }
  }
}
