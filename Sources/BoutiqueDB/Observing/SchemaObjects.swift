import SQLiteConnection

/// How a statement gets at the rows of its tables.
struct ProgramReads {
  /// What is looked up in the tables that are read by lookups of keys alone.
  var lookups: [String: Set<KeyLookup>]
  /// The columns of the indexes that are read.
  ///
  /// Without ORDER BY rows come in the order of the index, and LIMIT takes the first of them; so they
  /// depend on its columns, though no one reads these.
  var order: [String: ColumnPositions] = [:]

  init(_ steps: [ProgramStep], in schema: SchemaObjects, on sqlite: Connection) throws {
    lookups = try KeyLookups(steps)?.tables(in: schema, on: sqlite) ?? [:]
    for (cursor, pages) in KeyLookups.roots(of: steps) where steps.showOrder(of: cursor) {
      for page in pages {
        guard let root = schema.root(page), let index = root.index else { continue }
        let columns = try schema.table(root.table, on: sqlite).positions(ofIndex: index)
        order[root.table, default: ColumnPositions()].formUnion(columns)
      }
    }
  }
}

extension [ProgramStep] {
  /// Whether anything but the number of its rows is asked of a cursor.
  fileprivate func showOrder(of cursor: Int) -> Bool {
    contains { step in
      step.p1 == cursor && !["OpenRead", "Count", "Close"].contains(step.opcode)
        && ProgramOpcode[step.opcode]?.isOnCursor != false
    }
  }
}

/// What a reader has to know of the schema to judge what a query depends on.
///
/// Confined to the connection's thread; read again when the schema has changed.
final class SchemaObjects {
  /// What a b-tree holds.
  struct Root {
    var table: String
    /// The index; nil for the table itself.
    var index: String?
  }

  /// The names, in capitals, of the program's own collations; one may stand in the place of SQLite's.
  var ownCollations: Set<String> = []
  /// The schema's version when it was read.
  private(set) var version: Int64?
  /// Virtual tables of which every change is seen: they are read from their own shadow tables, whose changes
  /// are captured under the virtual table's name as well.
  private var closedVirtualTables: Set<String> = []
  private var virtualTables: Set<String> = []
  private var roots: [Int64: Root] = [:]
  private var tables: [String: TableColumns] = [:]
  private var programs: [String: ProgramReads] = [:]
  /// How the rows of live queries can be kept; nil where they cannot.
  private var keepPlans: [RunKey: KeepPlan?] = [:]
  private var encoding: String?
  /// Whether two tables have names that Swift does not tell apart (one accent in two encodings).
  private var isAmbiguous = false

  /// Looks at the schema again when it has changed.
  ///
  /// - Precondition: a transaction is open; everything that is asked for later is asked for in it.
  func refresh(on sqlite: Connection) throws {
    let current = try sqlite.queryInt64("PRAGMA schema_version")
    if current != version { try load(from: sqlite, version: current) }
  }

  /// Whether every change of what a name stands for is captured under that name.
  func isFollowed(_ name: String) -> Bool {
    if isAmbiguous { return false }
    // Statistics and sequences are written without a word; a pragma's function shows what no table holds.
    if name.hasPrefix("sqlite_") { return name == "sqlite_schema" || name == "sqlite_master" }
    if name.hasPrefix("pragma_") { return false }
    return !virtualTables.contains(name) || closedVirtualTables.contains(name)
  }

  /// Returns what a root page belongs to; nil for one that is not in the schema.
  func root(_ page: Int64) -> Root? { roots[page] }

  /// Returns the columns and keys of a table; for anything else, no columns.
  func table(_ name: String, on sqlite: Connection) throws -> TableColumns {
    if let known = tables[name] { return known }
    let columns = try TableColumns(of: name, on: sqlite)
    tables[name] = columns
    return columns
  }

  /// Returns how a plain statement that only reads gets at the rows of its tables.
  func programReads(of sql: String, on sqlite: Connection) throws -> ProgramReads {
    if let known = programs[sql] { return known }
    let reads = try ProgramReads(try sqlite.program(of: sql), in: self, on: sqlite)
    // As bounded as the connection's cache of statements; programs that make up texts start over.
    if programs.count >= 1024 { programs = [:] }
    programs[sql] = reads
    return reads
  }

  /// Whether texts are compared as UTF-8.
  func comparesInUTF8(on sqlite: Connection) throws -> Bool {
    // It cannot change once there is a table.
    let name = try encoding ?? sqlite.queryText("PRAGMA encoding")
    encoding = name
    return name == "UTF-8"
  }

  /// Returns how the rows of a live query can be kept, made when first asked for.
  func keepPlan(of key: RunKey, make: () throws -> KeepPlan?) rethrows -> KeepPlan? {
    if let known = keepPlans[key] { return known }
    let made = try make()
    if keepPlans.count >= 1024 { keepPlans = [:] }
    keepPlans[key] = .some(made)
    return made
  }

  private func load(from sqlite: Connection, version: Int64?) throws(SQLiteError) {
    self.version = nil
    virtualTables = []
    closedVirtualTables = []
    roots = [:]
    tables = [:]
    programs = [:]
    keepPlans = [:]
    isAmbiguous = false
    var names: Set<String> = []
    let select = try sqlite.prepare(
      "SELECT type, name, tbl_name, rootpage, lower(sql) FROM sqlite_schema")
    defer { select.reset() }
    while try select.step() {
      let type = select.text(0)
      let name = select.text(1)
      let page = select.int64(3)
      if type == "table", !names.insert(name).inserted { isAmbiguous = true }
      if page > 0 {
        roots[page] = Root(table: select.text(2), index: type == "index" ? name : nil)
      }
      let sql = select.text(4)
      guard type == "table", sql.hasPrefix("create virtual table") else { continue }
      virtualTables.insert(name)
      let module = sql.split(separator: "using", maxSplits: 1).last ?? ""
      let isOwn = ["fts5", "fts4", "fts3", "rtree"].contains {
        module.drop { $0 == " " }.hasPrefix($0)
      }
      // With outside content the index is one table and the text another.
      if isOwn, !module.contains("content"), !module.contains("vocab") {
        closedVirtualTables.insert(name)
      }
    }
    self.version = version
  }
}
