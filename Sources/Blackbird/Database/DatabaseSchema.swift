import BoutiqueDB

extension Blackbird.Database {
  /// A table as the database has it.
  public struct TableDescription: Sendable, Hashable {
    /// The table's name.
    public var name: String
    /// The columns, in their order.
    public var columns: [ColumnDescription]
    /// The indexes, by name, those of the primary key and of unique columns included.
    public var indexes: [IndexDescription]
    /// Whether the rows lie in the primary key's index (`WITHOUT ROWID`).
    public var isWithoutRowID: Bool
    /// The statement that made the table.
    public var sql: String

    /// The names of the primary key's columns, in the key's order.
    public var primaryKey: [String] {
      columns.filter { $0.primaryKeyPosition > 0 }
        .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }.map(\.name)
    }
  }

  /// A column as the database has it.
  public struct ColumnDescription: Sendable, Hashable {
    /// The column's name.
    public var name: String
    /// The type it was declared with.
    public var type: String
    /// Whether it refuses NULL.
    public var isNotNull: Bool
    /// The SQL of its default value, where it has one.
    public var defaultValue: String?
    /// Its place in the primary key, counted from one; 0 where it is not part of it.
    public var primaryKeyPosition: Int
  }

  /// An index as the database has it.
  public struct IndexDescription: Sendable, Hashable {
    /// The index's name.
    public var name: String
    /// The columns, in the index's order; nil for an expression.
    public var columns: [String?]
    /// Whether its values, together, occur once.
    public var isUnique: Bool
    /// Whether SQLite has made it, for a primary key or a unique column.
    public var isAutomatic: Bool
  }

  /// Returns the tables, by name; without those of SQLite and of the library.
  public func tables() async throws -> [TableDescription] {
    try await run("SELECT") { core in try core.tables() }
  }

  /// Returns a table, or nil where there is none of that name.
  public func table(_ name: String) async throws -> TableDescription? {
    try await run("SELECT") { core in try core.table(name) }
  }
}

extension Blackbird.Database.Core {
  /// Returns the tables, by name; without those of SQLite and of the library.
  public func tables() throws -> [Blackbird.Database.TableDescription] {
    try Blackbird.Database.Error.translating {
      try connection().query(
        """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        ORDER BY name
        """
      ).map { try $0.decode("name", as: String.self) }
    }
    .filter { !LibraryTables.contain($0) }
    .compactMap { try table($0) }
  }

  /// Returns a table, or nil where there is none of that name.
  public func table(_ name: String) throws -> Blackbird.Database.TableDescription? {
    try Blackbird.Database.Error.translating {
      let connection = try connection()
      guard
        let row = try connection.queryOne(
          """
          SELECT s.name, s.sql, t.wr FROM sqlite_schema s
          JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
          WHERE s.type = 'table' AND s.name = ? COLLATE NOCASE
          """, name)
      else { return nil }
      let name = try row.decode("name", as: String.self)
      return Blackbird.Database.TableDescription(
        name: name, columns: try columns(of: name, on: connection),
        indexes: try indexes(of: name, on: connection),
        isWithoutRowID: row["wr"] == .integer(1),
        sql: try row.decode("sql", as: String?.self) ?? "")
    }
  }

  private func columns(
    of table: String, on connection: BoutiqueConnection
  ) throws -> [Blackbird.Database.ColumnDescription] {
    try connection.query(
      "SELECT name, type, \"notnull\" AS required, dflt_value, pk FROM pragma_table_info(?) ORDER BY cid",
      table
    ).map { row in
      Blackbird.Database.ColumnDescription(
        name: try row.decode("name", as: String.self),
        type: try row.decode("type", as: String.self),
        isNotNull: try row.decode("required", as: Bool.self),
        defaultValue: try row.decode("dflt_value", as: String?.self),
        primaryKeyPosition: try row.decode("pk", as: Int.self))
    }
  }

  private func indexes(
    of table: String, on connection: BoutiqueConnection
  ) throws -> [Blackbird.Database.IndexDescription] {
    try connection.query(
      "SELECT name, \"unique\" AS once, origin FROM pragma_index_list(?) ORDER BY name", table
    ).map { row in
      let name = try row.decode("name", as: String.self)
      return Blackbird.Database.IndexDescription(
        name: name,
        columns: try connection.query(
          "SELECT name FROM pragma_index_info(?) ORDER BY seqno", name
        ).map { try $0.decode("name", as: String?.self) },
        isUnique: try row.decode("once", as: Bool.self),
        isAutomatic: try row.decode("origin", as: String.self) != "c")
    }
  }
}
