import SQLiteConnection

/// The shapes of the database's tables, as of the last look at the schema, and what is kept of their rows.
///
/// The hook may not run SQL, so they are read before a transaction's statements run. A table made inside
/// the transaction is unknown to it and counts as wholly changed. Confined to the writer thread.
final class SchemaShapes {
  private var shapes: [ByteExactString: TableShape] = [:]
  private var virtualTables: [String] = [] {
    didSet { hasVirtualTables = !virtualTables.isEmpty }
  }
  private(set) var hasVirtualTables = false
  private(set) var modes = CaptureModes()
  private var shadowTables: [String] = []

  subscript(table: ByteExactString) -> TableShape? { shapes[table] }

  /// The virtual table that a table is or that it belongs to as a shadow table.
  func owner(of name: String) -> String? {
    if virtualTables.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { return name }
    return virtualTables.filter { name.utf8.starts(with: ($0 + "_").utf8) }
      .max { $0.utf8.count < $1.utf8.count }
  }

  /// The shadow tables of a virtual table.
  func shadows(of owner: String) -> [String] {
    shadowTables.filter { self.owner(of: $0) == owner }
  }

  /// Reads the schema again.
  func load(from connection: Connection) throws(SQLiteError) {
    shapes = [:]
    virtualTables = []
    shadowTables = []
    let virtual = try connection.prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")
    defer { virtual.reset() }
    while try virtual.step() { virtualTables.append(virtual.text(0)) }
    let select = try connection.prepare(
      """
      SELECT t.name, t.wr, t.strict, c.type, c.dflt_value, c.pk, c.hidden, t.type
        FROM pragma_table_list AS t, pragma_table_xinfo(t.name, 'main') AS c
        WHERE t.schema = 'main' AND t.type IN ('table', 'shadow')
      """)
    defer { select.reset() }
    var table: (name: String, isKeyed: Bool, isStrict: Bool)?
    var columns: [TableShape.Column] = []
    func finish() throws(SQLiteError) {
      guard let table else { return }
      var alias: Int?
      if !table.isKeyed, columns.contains(where: \.isVirtual) {
        alias = try rowIDAlias(of: table.name, columns, on: connection)
      }
      let shape = TableShape(
        columns, hasRowID: !table.isKeyed, isStrict: table.isStrict, rowIDAlias: alias)
      shape.mode = modes[table.name]
      shapes[ByteExactString(table.name)] = shape
    }
    while try select.step() {
      let name = select.text(0)
      if table.map({ ByteExactString($0.name) != ByteExactString(name) }) ?? true {
        try finish()
        table = (name, select.int64(1) != 0, select.int64(2) != 0)
        if select.text(7) == "shadow" { shadowTables.append(name) }
        columns = []
      }
      columns.append(
        TableShape.Column(
          type: select.text(3), defaultSQL: select.isNull(4) ? nil : select.text(4),
          keyPosition: Int(select.int64(5)), isVirtual: select.int64(6) == 2))
    }
    try finish()
  }

  /// The position of the column that is the row id under another name.
  private func rowIDAlias(
    of table: String, _ columns: [TableShape.Column], on connection: Connection
  ) throws(SQLiteError) -> Int? {
    let key = columns.indices.filter { columns[$0].keyPosition > 0 }
    guard key.count == 1, let position = key.first, columns[position].type.uppercased() == "INTEGER"
    else { return nil }
    // A primary key with an index of its own is none (INTEGER PRIMARY KEY DESC).
    let index = try connection.prepare(
      "SELECT 1 FROM pragma_index_list(?1, 'main') WHERE origin = 'pk'")
    defer { index.reset() }
    try index.bind(table, at: 1)
    return try index.step() ? nil : position
  }

  /// Reads again what is kept of the rows of which table.
  func loadModes(from connection: Connection) throws(SQLiteError) {
    let modes = try CaptureModes(on: connection)
    guard modes != self.modes else { return }
    self.modes = modes
    for (name, shape) in shapes { shape.mode = modes[name.string] }
  }
}
