import BoutiqueDB

extension SearchIndex {
  /// Whether rows have changed that the index does not know yet; false where there is no index.
  func hasNotes(on connection: BoutiqueConnection) throws -> Bool {
    do {
      return try connection.queryOne("SELECT 1 FROM \(quoted(notes)) LIMIT 1") != nil
    } catch BoutiqueError.sql(let code, let message) where code == 1 {
      // Another process runs a version of the model that is not searched.
      guard message.hasPrefix("no such table") else {
        throw BoutiqueError.sql(code: code, message: message)
      }
      return false
    }
  }

  /// Brings the index up to date from the notes, in the transaction that is open.
  func applyNotes(on connection: BoutiqueConnection) throws {
    guard try hasNotes(on: connection), let key = try key(on: connection) else { return }
    let targets = try indexedColumns(on: connection)
    guard !targets.isEmpty else { return }
    let columns = targets.map(quoted).joined(separator: ", ")
    let sources = targets.map { "t.\(quoted(Self.sourceName(of: $0)))" }.joined(separator: ", ")
    if key.isRowID {
      try connection.execute(
        "DELETE FROM \(quoted(name)) WHERE rowid IN (SELECT k0 FROM \(quoted(notes)))")
      try connection.execute(
        "INSERT INTO \(quoted(name)) (rowid, \(columns)) SELECT n.k0, \(sources) "
          + "FROM \(quoted(notes)) n JOIN \(quoted(table)) t ON \(sameKey(key, "t", "n"))")
    } else {
      try applyKeyedNotes(key, columns: columns, sources: sources, on: connection)
    }
    try connection.execute("DELETE FROM \(quoted(notes))")
  }

  private func applyKeyedNotes(
    _ key: Key, columns: String, sources: String, on connection: BoutiqueConnection
  ) throws {
    let places = key.names.indices.map { quoted("k\($0)") }
    let same = places.map { "m.\($0) IS n.\($0)" }.joined(separator: " AND ")
    let noted = "\(quoted(notes)) n"
    let mapped = "\(quoted(keys)) m"
    let rows = "\(quoted(table)) t"
    try connection.execute(
      "DELETE FROM \(quoted(name)) WHERE rowid IN (SELECT m.doc FROM \(noted) JOIN \(mapped) ON \(same))"
    )
    try connection.execute(
      "DELETE FROM \(quoted(keys)) WHERE doc IN (SELECT m.doc FROM \(noted) JOIN \(mapped) ON \(same) "
        + "WHERE NOT EXISTS (SELECT 1 FROM \(rows) WHERE \(sameKey(key, "t", "n"))))")
    try connection.execute(
      "INSERT INTO \(quoted(keys)) (\(places.joined(separator: ", "))) "
        + "SELECT \(places.map { "n.\($0)" }.joined(separator: ", ")) FROM \(noted) "
        + "WHERE EXISTS (SELECT 1 FROM \(rows) WHERE \(sameKey(key, "t", "n"))) "
        + "AND NOT EXISTS (SELECT 1 FROM \(mapped) WHERE \(same))")
    try connection.execute(
      "INSERT INTO \(quoted(name)) (rowid, \(columns)) SELECT m.doc, \(sources) FROM \(noted) "
        + "JOIN \(mapped) ON \(same) JOIN \(rows) ON \(sameKey(key, "t", "n"))")
  }

  /// Removes what REPLACE has left behind, and puts the index into its fastest form.
  func optimize(on connection: BoutiqueConnection) throws {
    try applyNotes(on: connection)
    guard let key = try key(on: connection), try !indexedColumns(on: connection).isEmpty else {
      return
    }
    if key.isRowID {
      try connection.execute(
        "DELETE FROM \(quoted(name)) WHERE rowid NOT IN "
          + "(SELECT \(quoted(key.names[0])) FROM \(quoted(table)))")
    } else {
      let gone =
        "SELECT m.doc FROM \(quoted(keys)) m WHERE NOT EXISTS "
        + "(SELECT 1 FROM \(quoted(table)) t WHERE \(sameKey(key, "t")))"
      try connection.execute("DELETE FROM \(quoted(name)) WHERE rowid IN (\(gone))")
      try connection.execute("DELETE FROM \(quoted(keys)) WHERE doc IN (\(gone))")
    }
    try connection.execute("INSERT INTO \(quoted(name)) (\(quoted(name))) VALUES ('optimize')")
  }
}
