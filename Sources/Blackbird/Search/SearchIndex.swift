import BoutiqueDB

// The full-text index of a table, and how it is kept right.
//
// A trigger that writes into an FTS5 table is refused by every connection that does not trust the schema,
// which ours do not ("unsafe use of virtual table"). So the triggers are plain SQL and only note which rows
// have changed; the library brings the index up to date from the notes. Whoever writes leaves notes, the
// `sqlite3` shell and other libraries included, and whoever searches works them off first.
//
// Objects for a table `Post`:
//   "Post+Search"         the FTS5 table: a copy of the searched columns. Its row id is the document's number.
//   "Post+SearchNotes"    the keys of rows that have changed since the index was brought up to date.
//   "Post+SearchKeys"     the document's number of each key. Only where the key is no INTEGER PRIMARY KEY:
//                         other row ids change with VACUUM, and WITHOUT ROWID tables have none.
//   "Post+SearchInsert", "Post+SearchUpdate", "Post+SearchDelete"    the triggers.
//
// Invariants:
// 1. A row whose document is not what the row says has a note, or no row has the document's key any more.
//    (REPLACE removes rows without firing triggers. What it leaves behind has a key without a row; a search
//    joins the table, so it is never found. A new row with the key makes a note.)
// 2. The index changes only together with its notes, in one transaction.
// 3. What the objects are made of is read from the schema when they are used: another process may run
//    another version of the model.
//
// Death of a process at any moment leaves a transaction that was committed, or none.

/// The full-text index of a table.
struct SearchIndex {
  /// The table that is searched.
  let table: String

  init(_ table: String) { self.table = table }

  /// The name of the FTS5 table.
  var name: String { table + "+Search" }
  var notes: String { table + "+SearchNotes" }
  var keys: String { table + "+SearchKeys" }
  var triggers: [String] { ["Insert", "Update", "Delete"].map { "\(table)+Search\($0)" } }

  /// The tokenizer of Blackbird on Apple systems, so that the same words are found.
  static let tokenizer = "porter unicode61 remove_diacritics 2"

  /// The columns of a table that belong to its primary key.
  struct Key {
    var names: [String]
    var types: [String]
    /// Whether the key is the row id, for good.
    var isRowID: Bool
  }

  /// Returns the primary key of the table; nil where there is no such table.
  func key(on connection: BoutiqueConnection) throws -> Key? {
    let columns = try connection.query(
      "SELECT name, type, pk FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
    guard !columns.isEmpty else { return nil }
    let names = try columns.map { try $0.decode("name", as: String.self) }
    let types = try columns.map { try $0.decode("type", as: String.self) }
    let rowless = try connection.queryOne(
      "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", table)
    let isRowID =
      names.count == 1 && types[0].uppercased() == "INTEGER" && rowless?["wr"] == .integer(0)
    return Key(names: names, types: types, isRowID: isRowID)
  }

  /// FTS5 keeps two names for itself.
  static func columnName(of name: String) -> String {
    ["rank", "rowid"].contains(name.lowercased()) ? name + "+" : name
  }

  /// The name of the table's column that a column of the index is a copy of.
  static func sourceName(of name: String) -> String {
    name.hasSuffix("+") ? String(name.dropLast()) : name
  }

  // MARK: Definition

  /// Returns the statements that make the objects, by name.
  func definition(columns: [String], key: Key) -> [(name: String, sql: String)] {
    let indexed = columns.map { quoted(Self.columnName(of: $0)) }.joined(separator: ", ")
    let columnList = Array(Set(columns + key.names)).sorted().map(quoted).joined(separator: ", ")
    let keyNames = key.names.indices.map { quoted("k\($0)") }.joined(separator: ", ")
    let keyColumns = zip(key.names.indices, key.types)
      .map { "\(quoted("k\($0)")) \($1)" }.joined(separator: ", ")
    var objects = [
      (
        name,
        "CREATE VIRTUAL TABLE \(quoted(name)) USING fts5(\(indexed), tokenize = '\(Self.tokenizer)')"
      ),
      (
        notes,
        key.isRowID
          ? "CREATE TABLE \(quoted(notes)) (\"k0\" INTEGER PRIMARY KEY)"
          : "CREATE TABLE \(quoted(notes)) (\(keyColumns), UNIQUE (\(keyNames)))"
      ),
    ]
    if !key.isRowID {
      objects.append(
        (
          keys,
          "CREATE TABLE \(quoted(keys)) (\"doc\" INTEGER PRIMARY KEY, \(keyColumns), "
            + "UNIQUE (\(keyNames)))"
        ))
    }
    let events = ["INSERT", "UPDATE OF \(columnList)", "DELETE"]
    let sides = [["NEW"], ["OLD", "NEW"], ["OLD"]]
    for (index, trigger) in triggers.enumerated() {
      let body = sides[index].map { note(of: $0, key: key) }.joined(separator: " ")
      objects.append(
        (
          trigger,
          "CREATE TRIGGER \(quoted(trigger)) AFTER \(events[index]) ON \(quoted(table)) "
            + "BEGIN \(body) END"
        ))
    }
    return objects
  }

  /// The statement of a trigger that notes a row, once.
  ///
  /// No OR IGNORE: the conflict clause of the statement that fires the trigger would take its place.
  private func note(of side: String, key: Key) -> String {
    let values = key.names.map { "\(side).\(quoted($0))" }.joined(separator: ", ")
    let same = key.names.enumerated()
      .map { "\(quoted("k\($0)")) IS \(side).\(quoted($1))" }.joined(separator: " AND ")
    return "INSERT INTO \(quoted(notes)) SELECT \(values) "
      + "WHERE NOT EXISTS (SELECT 1 FROM \(quoted(notes)) WHERE \(same));"
  }

  func quoted(_ name: String) -> String { Self.quoted(name) }

  /// FTS5's own query language knows names in double quotes only.
  static func quoted(_ name: String) -> String {
    "\"" + name.doubling("\"") + "\""
  }
}

extension SearchIndex {
  /// Whether a table belongs to an index.
  static func isPart(_ table: String) -> Bool {
    ["+Search", "+SearchNotes", "+SearchKeys"].contains(where: table.hasSuffix)
      || ["data", "idx", "content", "docsize", "config"].contains {
        table.hasSuffix("+Search_\($0)")
      }
  }
}

extension SearchIndex {
  /// Whether a trigger belongs to the index, as it is here or on Apple systems.
  func isTrigger(_ name: String) -> Bool {
    triggers.contains(name) || foreignTriggers.contains(name)
  }

  var foreignTriggers: [String] { ["Insert", "Update", "Delete"].map { "\(table)+FTS\($0)" } }
}
