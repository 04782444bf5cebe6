// Whether the rows of a statement over one table can be kept in order without running it again, and what
// that order is.
//
// For: a change of one row under a list of 100,000. The row is read again by its key and put where a re-run
// would have put it, equal ones among each other included.
//
// Why it is right: the program that SQLite makes of the statement, for the values it is run with, is looked
// at, and no text. It is taken only when
//  1. it reads one table, by one loop over the table or over one of its indexes, and nothing else; so rows
//     come in the order of that loop, which is the index's columns and then the row id;
//  2. it has no aggregates, coroutines, row sets, other loops or opcodes that are not known here; so each row
//     is judged and shown by itself;
//  3. its functions are SQLite's own, deterministic, and not replaced by the program's;
//  4. it sorts, if it does, by columns of the table in collations whose order is known. SQLite's sorters
//     leave rows with equal terms in the order in which they came (vdbesort.c: of equal keys the older one is
//     taken first; the sorter for LIMIT adds a sequence number to its keys).
// So the order is: the terms, the columns of the index walked, the row id; and that is total.
//
// Another connection may have another plan (it has read other statistics). Who keeps a list compares the plan
// of the connection at hand with the one that the list was made by.

import SQLiteConnection
import StructuredQueries

/// What has to be known to keep the rows of a statement in order.
struct KeepPlan: Hashable, Sendable {
  /// The table's name, as in the schema.
  var table: String
  /// A name of its row id.
  var rowID: String
  /// The terms of the statement's order and the columns of the index it walks.
  var terms: [SortKey.Term]
  /// Whether rows come from the largest row id.
  var isReverse: Bool
}

extension SchemaObjects {
  /// Returns the collation of a name, if it is SQLite's own.
  fileprivate func knownCollation(_ name: String) -> SortKey.Collation? {
    ownCollations.contains(name.uppercased()) ? nil : SortKey.Collation(name: name)
  }
}

extension KeepPlan {
  /// Functions whose result is one of their arguments alone, whatever the connection.
  private static let functions: Set<String> = [
    "abs", "char", "coalesce", "glob", "hex", "ifnull", "iif", "instr", "length", "like", "lower",
    "ltrim", "max", "min", "nullif", "quote", "replace", "round", "rtrim", "sign", "substr",
    "substring", "trim", "typeof", "unicode", "upper",
  ]

  /// Opcodes that belong to one loop over one table, with or without a sorter.
  ///
  /// `Once`, `BeginSubrtn`: the list of an IN, made once. `SequenceTest`, `Gosub`: sorting in parts.
  private static let opcodes: Set<String> = Set(
    """
    Init Goto Once Eq Ne Lt Le Gt Ge ElseEq Jump If IfNot IsNull NotNull IsType Transaction Halt Noop Explain \
    Compare Permutation ResultRow ReleaseReg IfPos IfNotZero DecrJumpZero RealAffinity Cast SoftNull CollSeq \
    AddImm Gosub Return Integer Int64 Real String8 String Blob Variable SCopy IntCopy BitNot Not IsTrue \
    ZeroOrNull OffsetLimit Null BeginSubrtn Copy Move MakeRecord Add Subtract Multiply Divide Remainder Concat \
    BitAnd BitOr ShiftLeft ShiftRight And Or Function Affinity MustBeInt \
    OpenRead OpenEphemeral OpenPseudo SorterOpen Rewind Last Next Prev SorterSort SorterNext SorterData \
    SorterInsert Sort IdxInsert IdxLE IdxLT IdxGE IdxGT Delete Insert SeekGE SeekGT SeekLE SeekLT SeekRowid \
    NotExists NotFound Found DeferredSeek FinishSeek Column Rowid IdxRowid Sequence SequenceTest ResetSorter \
    NullRow Close ColumnsUsed NewRowid RowData Offset SeekHit
    """.split(separator: " ").map(String.init))

  /// - Parameters:
  ///   - sql: the statement's text.
  ///   - values: of its parameters.
  /// - Returns: nil when its rows cannot be kept.
  init?(
    _ select: SingleTableSelect, sql: String, values: [SQLiteValue], schema: SchemaObjects,
    on sqlite: Connection
  ) throws {
    var terms: [SortKey.Term] = []
    var orders: [ColumnOrder] = []
    for order in select.orders {
      guard let order = ColumnOrder(order, scope: select.scope) else { return nil }
      orders.append(order)
    }
    guard try schema.comparesInUTF8(on: sqlite),
      let scan = try Scan(sqlite.program(of: sql, values: values), schema, sqlite)
    else { return nil }
    for order in orders {
      guard
        let name = order.collation ?? sqlite.collation(ofColumn: order.column, in: scan.table),
        let collation = schema.knownCollation(name)
      else { return nil }
      terms.append(
        SortKey.Term(
          column: order.column, collation: collation, isDescending: order.isDescending,
          nullsFirst: order.nullsFirst))
    }
    let columns = try schema.table(scan.table, on: sqlite)
    guard let rowID = columns.rowIDName, !columns.isWithoutRowID else { return nil }
    if let index = scan.index {
      guard
        let order = try Self.order(ofIndex: index, isReverse: scan.isReverse, schema, sqlite)
      else { return nil }
      terms += order
    }
    table = scan.table
    self.rowID = rowID
    self.terms = terms
    isReverse = scan.isReverse
  }

  /// Returns the table that a statement reads by itself alone; nil when there is more to it.
  ///
  /// For aggregates, whose program has a few opcodes more.
  static func table(
    ofAggregate sql: String, values: [SQLiteValue], schema: SchemaObjects, on sqlite: Connection
  ) throws -> (name: String, rowID: String)? {
    let program = try sqlite.program(of: sql, values: values)
    let more: Set<String> = ["AggStep", "AggStep1", "AggFinal", "Count"]
    guard try program.allSatisfy({ try isKnown($0, sqlite) || more.contains($0.opcode) }) else {
      return nil
    }
    var tables: Set<String> = []
    for step in program where step.opcode == "OpenRead" {
      guard step.p3 == 0, step.p5 & 0x10 == 0, let root = schema.root(Int64(step.p2)) else {
        return nil
      }
      tables.insert(root.table)
    }
    // Twice at most: the table and an index of it. Another loop over it would be a subquery.
    guard tables.count == 1, program.count(where: { $0.opcode == "OpenRead" }) <= 2,
      program.count(where: { $0.opcode == "Next" || $0.opcode == "Prev" || $0.opcode == "Count" })
        == 1, let name = tables.first, schema.isFollowed(name)
    else { return nil }
    let columns = try schema.table(name, on: sqlite)
    guard let rowID = columns.rowIDName, !columns.isWithoutRowID else { return nil }
    return (name, rowID)
  }

  private static func isKnown(_ step: ProgramStep, _ sqlite: Connection) throws -> Bool {
    guard opcodes.contains(step.opcode) else { return false }
    guard step.opcode == "Function" else { return true }
    guard let name = step.p4?.split(separator: "(").first.map({ $0.lowercased() }),
      functions.contains(name)
    else { return false }
    // A program may put its own in the place of one of SQLite's.
    let replaced = try sqlite.prepare(
      "SELECT 1 FROM pragma_function_list WHERE name = ?1 AND builtin = 0")
    defer { replaced.reset() }
    try replaced.bind(name, at: 1)
    return try !replaced.step()
  }

  private static func order(
    ofIndex name: String, isReverse: Bool, _ schema: SchemaObjects, _ sqlite: Connection
  ) throws -> [SortKey.Term]? {
    let info = try sqlite.prepare(
      """
      SELECT cid, name, "desc", coll FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno
      """)
    defer { info.reset() }
    try info.bind(name, at: 1)
    var terms: [SortKey.Term] = []
    while try info.step() {
      // Not an expression.
      guard info.int64(0) >= 0, let collation = schema.knownCollation(info.text(3)) else {
        return nil
      }
      let isDescending = (info.int64(2) != 0) != isReverse
      terms.append(
        SortKey.Term(
          column: info.text(1), collation: collation, isDescending: isDescending,
          nullsFirst: !isDescending))
    }
    return terms.isEmpty ? nil : terms
  }

  /// The one loop of a program.
  private struct Scan {
    var table = ""
    var index: String?
    var isReverse = false

    init?(_ steps: [ProgramStep], _ schema: SchemaObjects, _ sqlite: Connection) throws {
      var tableCursor: Int?
      var indexCursor: Int?
      var made: Set<Int> = []
      var sorters: Set<Int> = []
      for step in steps {
        guard try KeepPlan.isKnown(step, sqlite) else { return nil }
        switch step.opcode {
        case "OpenRead":
          guard step.p3 == 0, step.p5 & 0x10 == 0, let root = schema.root(Int64(step.p2)),
            table.isEmpty || table == root.table
          else { return nil }
          table = root.table
          if let name = root.index {
            guard indexCursor == nil else { return nil }
            indexCursor = step.p1
            index = name
          } else {
            guard tableCursor == nil else { return nil }
            tableCursor = step.p1
          }
        case "OpenEphemeral", "SorterOpen", "OpenPseudo": made.insert(step.p1)
        case "Sort", "SorterSort": sorters.insert(step.p1)
        default: break
        }
      }
      guard !table.isEmpty, schema.isFollowed(table), let driver = indexCursor ?? tableCursor else {
        return nil
      }
      let loops: Set<String> = ["Rewind", "Last", "Next", "Prev"]
      let seeks: Set<String> = ["SeekGE", "SeekGT", "SeekLE", "SeekLT"]
      var ends: [String] = []
      var seekCount = 0
      for step in steps where loops.contains(step.opcode) || seeks.contains(step.opcode) {
        if step.p1 == driver {
          if step.opcode == "Next" || step.opcode == "Prev" { ends.append(step.opcode) }
          if seeks.contains(step.opcode) { seekCount += 1 }
        } else if made.contains(step.p1) {
          // The list of an IN is looked into, not walked.
          guard sorters.contains(step.p1) else { return nil }
        } else {
          return nil
        }
      }
      guard ends.count == 1, seekCount <= 1 else { return nil }
      isReverse = ends[0] == "Prev"
    }
  }
}
