import SQLiteConnection

/// What has to be known of an opcode to follow values through a program.
///
/// Source: SQLite's `vdbe.c`, versions 3.40 to 3.50. An opcode that is not listed ends the reading of a
/// program, so a version with new ones costs precision and nothing else.
struct ProgramOpcode {
  /// The registers that a step changes.
  enum Output {
    case none
    case p1, p2, p3
    /// P2 up to P3, at least P2.
    case fromP2ToP3
    /// P3 + 1 registers from P2.
    case copies
    /// P3 registers from P2, and as many from P1, which become NULL.
    case moves
    case p1AndP3
    case p2AndP3
    /// The registers keep their value, in another storage class perhaps.
    case converts
  }

  var output = Output.none
  /// Whether P1 is a cursor.
  var isOnCursor = false
  /// Whether P2 may be the address of another step.
  var mayJump = true
  /// Whether control leaves and comes back to the step behind.
  var leaves = false

  static subscript(name: String) -> ProgramOpcode? { all[name] }

  private static let all: [String: ProgramOpcode] = {
    var all: [String: ProgramOpcode] = [:]
    func add(_ names: String, _ opcode: ProgramOpcode) {
      for name in names.split(separator: " ") { all[String(name)] = opcode }
    }
    add(
      """
      Rewind Last Next Prev SorterSort SorterNext SorterCompare Sort SeekGE SeekGT SeekLE SeekLT \
      SeekRowid NotExists Found NotFound NoConflict IfNoHope IdxGE IdxGT IdxLT IdxLE IfSizeBetween \
      IfEmpty IfNotOpen SequenceTest VFilter VNext SeekHit ResetSorter NullRow Close ColumnsUsed \
      OpenAutoindex OpenPseudo SorterOpen OpenDup FinishSeek Insert Delete VOpen ReopenIdx
      """, ProgramOpcode(isOnCursor: true))
    add(
      "OpenRead OpenEphemeral IdxInsert SorterInsert DeferredSeek",
      ProgramOpcode(isOnCursor: true, mayJump: false))
    add("IfNullRow", ProgramOpcode(output: .p3, isOnCursor: true))
    add("Column Offset VColumn", ProgramOpcode(output: .p3, isOnCursor: true, mayJump: false))
    add(
      "Rowid IdxRowid RowData SorterData Count Sequence",
      ProgramOpcode(output: .p2, isOnCursor: true, mayJump: false))
    add("NewRowid", ProgramOpcode(output: .p2AndP3, isOnCursor: true, mayJump: false))
    add(
      """
      Init Goto Once Eq Ne Lt Le Gt Ge ElseEq Jump If IfNot IsNull NotNull IsType Filter HaltIfNull \
      SeekScan
      """, ProgramOpcode())
    add(
      "Transaction Halt Noop Explain Compare Permutation ResultRow ReleaseReg TypeCheck",
      ProgramOpcode(mayJump: false))
    add("IfPos IfNotZero DecrJumpZero RowSetTest", ProgramOpcode(output: .p1))
    add(
      "RealAffinity Cast SoftNull AggFinal CollSeq FilterAdd RowSetAdd ClrSubtype AddImm",
      ProgramOpcode(output: .p1, mayJump: false))
    add("Gosub InitCoroutine EndCoroutine Yield", ProgramOpcode(output: .p1, leaves: true))
    add("Return", ProgramOpcode(leaves: true))
    add("RowSetRead", ProgramOpcode(output: .p1AndP3))
    add(
      """
      Integer Int64 Real String8 String Blob Variable SCopy IntCopy BitNot Not IsTrue ZeroOrNull \
      OffsetLimit GetSubtype SetSubtype
      """, ProgramOpcode(output: .p2, mayJump: false))
    add("Null BeginSubrtn", ProgramOpcode(output: .fromP2ToP3, mayJump: false))
    add("Copy", ProgramOpcode(output: .copies, mayJump: false))
    add("Move", ProgramOpcode(output: .moves, mayJump: false))
    add(
      """
      MakeRecord Add Subtract Multiply Divide Remainder Concat BitAnd BitOr ShiftLeft ShiftRight And \
      Or Function PureFunc AggStep AggStep1 AggInverse AggValue
      """, ProgramOpcode(output: .p3, mayJump: false))
    add("Affinity", ProgramOpcode(output: .converts, mayJump: false))
    add("MustBeInt", ProgramOpcode(output: .converts))
    return all
  }()
}

extension ProgramStep {
  /// Whether the step gives a register another value.
  func changes(_ register: Int, as opcode: ProgramOpcode) -> Bool {
    switch opcode.output {
    case .none, .converts: false
    case .p1: register == p1
    case .p2: register == p2
    case .p3: register == p3
    case .fromP2ToP3: (p2...max(p2, p3)).contains(register)
    case .copies: (p2...(p2 + max(0, p3))).contains(register)
    case .moves: (p2..<(p2 + p3)).contains(register) || (p1..<(p1 + p3)).contains(register)
    case .p1AndP3: register == p1 || register == p3
    case .p2AndP3: register == p2 || register == p3
    }
  }
}
