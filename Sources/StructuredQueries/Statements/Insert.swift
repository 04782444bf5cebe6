/// An INSERT.
///
/// Without rows it is not run.
public struct Insert<T: Table>: Statement {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = NoRow
  var conflict: ConflictResolution?
  /// The columns that get values; nil for all that can be written.
  private var columns: [String]?
  private var source: Source
  var upserts: [SQLFragment] = []

  enum Source: Sendable {
    /// The values of some rows, one row behind the other.
    case rows([SQLBinding], count: Int)
    // Apart, so that rows stay small.
    indirect case query(SQLFragment)
    case defaults
  }

  init(or conflict: ConflictResolution?, _ columns: [String]?, _ source: Source) {
    self.conflict = conflict
    self.columns = columns
    self.source = source
  }

  @usableFromInline
  init(or conflict: ConflictResolution?, rows: RowEncoder, count: Int) {
    self.init(or: conflict, nil, .rows(rows.bindings, count: count))
  }

  /// The SQL.
  public var query: SQLFragment {
    if case .rows(let values, 1) = source, columns == nil, conflict == nil, upserts.isEmpty {
      return SQLFragment(T.tableSchema.templates.insert, values)
    }
    var result = InsertText.head(
      conflict, T.tableName, columns ?? T.tableSchema.writableNames)
    switch source {
    case .rows(let values, let count):
      if count == 0 { return SQLFragment() }
      result.append(sql: " VALUES ")
      let width = values.count / count
      for row in 0..<count {
        if row > 0 { result.append(sql: ", ") }
        result.append(row: values[row * width..<(row + 1) * width])
      }
    case .query(let query):
      if query.isEmpty { return query }
      // Without WHERE, SQLite would take ON CONFLICT for the ON of a join ("Parsing Ambiguity").
      if upserts.isEmpty {
        result.append(" \(query)")
      } else {
        result.append(" SELECT * FROM (\(query)) WHERE 1")
      }
    case .defaults: result.append(sql: " DEFAULT VALUES")
    }
    for upsert in upserts {
      result.append(sql: " ")
      result.append(upsert)
    }
    return result
  }

  /// Yields something of each inserted row.
  public func returning<Value: QueryRow>(
    @SelectionBuilder _ selection: (T.TableColumns) -> SelectedColumns<Value>
  ) -> Returning<Value> { Returning(query, selection(T.bareColumns)) }

  /// Yields a column, or with `\.self` all of them, of each inserted row.
  public func returning<E: QueryExpression>(
    _ column: KeyPath<T.TableColumns, E>
  ) -> Returning<E.QueryValue> { returning { $0[keyPath: column] } }
}

enum InsertText {
  /// The text of an INSERT up to its columns.
  static func head(
    _ conflict: ConflictResolution?, _ table: String, _ columns: [String]
  ) -> SQLFragment {
    var result: SQLFragment = "INSERT "
    if let conflict { result.append("OR \(raw: conflict.rawValue) ") }
    result.append("INTO \(quote: table)")
    if !columns.isEmpty {
      result.append(sql: " (")
      for (index, name) in columns.enumerated() {
        if index > 0 { result.append(sql: ", ") }
        result.append(identifier: name)
      }
      result.append(sql: ")")
    }
    return result
  }
}

/// Adds rows up: one or an array a line, with `if` and `for`.
@resultBuilder public enum RowsBuilder<Row> {
  /// Takes one row.
  @inlinable public static func buildExpression(_ row: Row) -> [Row] { [row] }
  /// Takes an array of rows.
  @inlinable public static func buildExpression(_ rows: [Row]) -> [Row] { rows }
  /// Takes the one line.
  @inlinable public static func buildBlock(_ part: [Row]) -> [Row] { part }
  /// Puts lines together.
  public static func buildBlock(_ parts: [Row]...) -> [Row] { parts.flatMap(\.self) }
  /// Takes nothing from an `if` that is not entered.
  public static func buildOptional(_ part: [Row]?) -> [Row] { part ?? [] }
  /// Takes the first branch.
  public static func buildEither(first part: [Row]) -> [Row] { part }
  /// Takes the second branch.
  public static func buildEither(second part: [Row]) -> [Row] { part }
  /// Takes the rows of a loop.
  public static func buildArray(_ parts: [[Row]]) -> [Row] { parts.flatMap(\.self) }
}

extension Table {
  /// Inserts rows.
  ///
  /// ```swift
  /// Note.insert { Note(id: UUID(), title: "New", body: "") }
  /// Note.insert(or: .replace) { notes }
  /// ```
  @inlinable public static func insert(
    or conflict: ConflictResolution? = nil, @RowsBuilder<Self> _ rows: () -> [Self]
  ) -> Insert<Self> {
    let rows = rows()
    var encoder = RowEncoder(rows: rows.count, columnsOf: tableSchema)
    for row in rows { row.encodeColumns(into: &encoder) }
    return Insert(or: conflict, rows: encoder, count: rows.count)
  }

  /// Inserts values of some columns; the others get their defaults.
  ///
  /// ```swift
  /// Tag.insert { ($0.name, $0.color) } values: { ("red", 1); ("blue", 2) }
  /// ```
  public static func insert<Value: QueryRow>(
    or conflict: ConflictResolution? = nil,
    @WrittenColumnsBuilder _ columns: (TableColumns) -> WrittenColumns<Value>,
    @RowsBuilder<Value.Output> values: () -> [Value.Output]
  ) -> Insert<Self> {
    let values = values()
    var encoder = RowEncoder()
    for value in values { Value.encode(value, into: &encoder) }
    return Insert(
      or: conflict, columns(bareColumns).names, .rows(encoder.bindings, count: values.count))
  }

  /// Inserts the rows of a query into some columns.
  public static func insert<Value: QueryRow, S: Statement<Value>>(
    or conflict: ConflictResolution? = nil,
    @WrittenColumnsBuilder _ columns: (TableColumns) -> WrittenColumns<Value>,
    select query: () -> S
  ) -> Insert<Self> {
    Insert(or: conflict, columns(bareColumns).names, .query(query().query))
  }

  /// Inserts one row of defaults.
  public static func insertDefaults(or conflict: ConflictResolution? = nil) -> Insert<Self> {
    Insert(or: conflict, [], .defaults)
  }
}

extension DraftableTable {
  /// Inserts drafts.
  ///
  /// A key that is nil is made: a UUID here, others by SQLite.
  public static func insert(
    or conflict: ConflictResolution? = nil, @RowsBuilder<Draft> _ drafts: () -> [Draft]
  ) -> Insert<Self> {
    let encoders = drafts().map { draft in
      var encoder = RowEncoder()
      draft.encodeColumns(into: &encoder)
      return encoder
    }
    var columns: [String]?
    var rows = encoders.map(\.bindings)
    // When no row has a key the column is left out, so that its DEFAULT applies.
    if let position = encoders.first?.missingKeys.first,
      encoders.allSatisfy({ $0.missingKeys.contains(position) })
    {
      var names = tableSchema.writableNames
      names.remove(at: position)
      columns = names
      for index in rows.indices { rows[index].remove(at: position) }
    }
    return Insert(or: conflict, columns, .rows(rows.flatMap(\.self), count: rows.count))
  }

  /// Inserts drafts, or updates the rows that have their keys.
  public static func upsert(@RowsBuilder<Draft> _ drafts: () -> [Draft]) -> Insert<Self> {
    updatingOthers(insert(drafts))
  }
}

extension PrimaryKeyedTable {
  /// Inserts rows, or updates the rows that have their keys.
  public static func upsert(@RowsBuilder<Self> _ rows: () -> [Self]) -> Insert<Self> {
    updatingOthers(insert(rows))
  }

  /// Returns the insert with all columns but the key updated when the key is there.
  fileprivate static func updatingOthers(_ insert: Insert<Self>) -> Insert<Self> {
    let target = tableSchema.keyColumns.map { SQLFragment(identifier: $0.name) }.joined(", ")
    let assignments = tableSchema.writableColumns.filter { !$0.isPrimaryKey }.map { column in
      "\(quote: column.name) = \"excluded\".\(quote: column.name)" as SQLFragment
    }
    var insert = insert
    insert.upserts.append(
      assignments.isEmpty
        ? "ON CONFLICT (\(target)) DO NOTHING"
        : "ON CONFLICT (\(target)) DO UPDATE SET \(assignments.joined(", "))")
    return insert
  }
}
