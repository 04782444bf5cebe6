import BoutiqueDB

/// What the tables of a database look like, to give the columns and keys of a change their names.
struct TableLayouts: Sendable {
  /// How the rows of a table are told apart in a change.
  enum Key: Sendable {
    /// The change's key is the primary key: the row id under another name, or the key of a table without
    /// row ids.
    case primaryKey
    /// The change tells a row id that is not the primary key, or keys that are equal without being the same.
    case unknown
  }

  struct Layout: Sendable, Equatable {
    var key = Key.unknown
    /// By position; nil where positions do not tell columns.
    var columns: [Int: String]? = [:]
    fileprivate var keyColumns = 0
    fileprivate var isWithoutRowID = false
    /// What `CREATE TABLE` says, to notice when it is another.
    fileprivate var sql = ""
  }

  /// By name in lower case.
  private(set) var tables: [String: Layout] = [:]
  /// The first commit from which on this is known to hold.
  var from: Int64 = 0

  /// Reads the tables of a snapshot.
  init(on connection: BoutiqueConnection) throws {
    let columns = try connection.query(
      """
      SELECT m.name, m.sql, l.wr, x.cid, x.name, x.pk, x.hidden
        FROM sqlite_schema m, pragma_table_list(m.name) l, pragma_table_xinfo(m.name) x
        WHERE m.type = 'table' AND l.schema = 'main' AND l.name = m.name
      """)
    for row in columns {
      let name = try row.decode(0, as: String.self).lowercased()
      var layout = tables[name] ?? Layout()
      layout.sql = try row.decode(1, as: String?.self) ?? ""
      layout.isWithoutRowID = try row.decode(2, as: Int.self) != 0
      layout.columns?[try row.decode(3)] = try row.decode(4)
      if try row.decode(5, as: Int.self) > 0 { layout.keyColumns += 1 }
      // Computed when it is read, so that no position is what it seems, and depends on who knows what.
      if try row.decode(6, as: Int.self) == 2 { layout.columns = nil }
      tables[name] = layout
    }
    // A key that is the row id has no index. Another collation takes different keys for one.
    let indexes = try connection.query(
      """
      SELECT m.name, min(x.coll = 'BINARY')
        FROM sqlite_schema m, pragma_index_list(m.name) i, pragma_index_xinfo(i.name) x
        WHERE m.type = 'table' AND i.origin = 'pk' AND x.key = 1 GROUP BY m.name
      """)
    var hasExactIndex: [String: Bool] = [:]
    for row in indexes {
      hasExactIndex[try row.decode(0, as: String.self).lowercased()] =
        try row.decode(1, as: Int.self) != 0
    }
    for (name, layout) in tables {
      let isKnown =
        layout.isWithoutRowID
        ? hasExactIndex[name] == true : layout.keyColumns == 1 && hasExactIndex[name] == nil
      tables[name]?.key = isKnown ? .primaryKey : .unknown
    }
  }

  /// Returns a table's layout; nil where it is not known as of a commit.
  func layout(of table: String, at token: Int64) -> Layout? {
    token >= from ? tables[table.lowercased()] : nil
  }
}
