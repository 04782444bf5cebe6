/// One step of the program that SQLite makes of a statement, as EXPLAIN shows it.
///
/// Source: SQLite, "The SQLite Bytecode Engine". The operands' meaning depends on the opcode and may
/// change between versions; whoever reads them has to do without what it does not know.
package struct ProgramStep: Sendable, Equatable {
  /// Where it stands; jumps name these.
  package var address: Int
  /// What it does.
  package var opcode: String
  /// The first operand.
  package var p1: Int
  /// The second operand.
  package var p2: Int
  /// The third operand.
  package var p3: Int
  /// The fourth operand as text; nil where there is none.
  package var p4: String?
  /// The fifth operand: flags.
  package var p5: Int

  /// Describes a step.
  package init(
    address: Int, opcode: String, p1: Int = 0, p2: Int = 0, p3: Int = 0, p4: String? = nil,
    p5: Int = 0
  ) {
    self.address = address
    self.opcode = opcode
    self.p1 = p1
    self.p2 = p2
    self.p3 = p3
    self.p4 = p4
    self.p5 = p5
  }
}

extension Connection {
  /// Returns the program of a statement that reads or writes rows.
  ///
  /// It is compiled anew, so it is a program for the statement as the schema is now, not necessarily
  /// the one that a statement compiled earlier runs.
  ///
  /// - Precondition: the text is one plain statement; a pragma could take effect while it is compiled.
  package func program(of sql: String) throws(SQLiteError) -> [ProgramStep] {
    let explain = try compile("EXPLAIN " + sql, isPersistent: false)
    defer { explain.reset() }
    return try explain.programSteps()
  }
}

extension Connection {
  /// Returns the program of a statement that reads, compiled for these values of its parameters.
  ///
  /// SQLite looks at them for some decisions (LIKE on an index, partial indexes).
  ///
  /// - Precondition: as for `program(of:)`.
  package func program(
    of sql: String, values: [SQLiteValue]
  ) throws(SQLiteError) -> [ProgramStep] {
    let explain = try compile("EXPLAIN " + sql, isPersistent: false)
    defer { explain.reset() }
    for (index, value) in values.enumerated() { try explain.bind(value, at: Int32(index + 1)) }
    return try explain.programSteps()
  }
}

extension PreparedStatement {
  /// The rows of an EXPLAIN.
  fileprivate func programSteps() throws(SQLiteError) -> [ProgramStep] {
    var steps: [ProgramStep] = []
    while try step() {
      steps.append(
        ProgramStep(
          address: Int(int64(0)), opcode: text(1), p1: Int(int64(2)), p2: Int(int64(3)),
          p3: Int(int64(4)), p4: isNull(5) ? nil : text(5), p5: Int(int64(6))))
    }
    return steps
  }
}
