import SQLiteConnection

/// What a transaction changed in the schema, told by comparing its rows before and after.
///
/// The hook does not come for the schema table.
struct SchemaDifference {
  /// One row of `sqlite_schema`.
  struct Object: Equatable {
    var rowID: Int64
    /// Type, name, table, root page and SQL.
    var values: [SQLiteValue]

    var type: SQLiteValue { values[0] }
    var name: SQLiteValue { values[1] }
    var rootPage: SQLiteValue { values[3] }
  }

  struct Change {
    var kind: RecordedChange.Kind
    var rowID: Int64
    var before: Object?
    var after: Object?
  }

  /// Deletions first, then the rest, by row id.
  private(set) var changes: [Change] = []

  /// Reads the user's tables and indexes.
  ///
  /// Views and triggers are left out, as Turso does, and what SQLite or the library made.
  static func objects(on connection: Connection) throws -> [Object] {
    let select = try connection.prepare(
      """
      SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_schema
        WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
      """)
    defer { select.reset() }
    var objects: [Object] = []
    while try select.step() {
      guard !CaptureSchema.internalTables.contains(select.text(3)) else { continue }
      objects.append(
        Object(rowID: select.int64(0), values: (1...5).map { select.value($0) as SQLiteValue }))
    }
    return objects
  }

  init(from before: [Object], to after: [Object]) {
    let old = Dictionary(before.map { ($0.rowID, $0) }) { first, _ in first }
    let new = Dictionary(after.map { ($0.rowID, $0) }) { first, _ in first }
    var rest: [Change] = []
    for object in before where !(new[object.rowID].map { Self.isSame(object, $0) } ?? false) {
      changes.append(Change(kind: .delete, rowID: object.rowID, before: object))
    }
    for object in after {
      if let former = old[object.rowID], Self.isSame(former, object) {
        guard former != object else { continue }
        rest.append(Change(kind: .update, rowID: object.rowID, before: former, after: object))
      } else {
        rest.append(Change(kind: .insert, rowID: object.rowID, after: object))
      }
    }
    changes += rest
  }

  /// Whether two rows of one row id are the same object: the row ids of dropped objects are used again.
  private static func isSame(_ a: Object, _ b: Object) -> Bool {
    a.type == b.type && (a.name == b.name || a.rootPage == b.rootPage)
  }
}
