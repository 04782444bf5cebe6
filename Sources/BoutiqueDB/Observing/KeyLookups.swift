// Which single rows a statement reads, found in the program that SQLite makes of it.
//
// For: `WHERE id = ?` depends on one row, `WHERE id IN (?, ?)` on two, whatever else stands in the
// statement and whoever wrote it: no SQL is parsed here, and no statement has to say what it means.
//
// Why it is right: the program computes the statement's result. If it positions its cursors on a table's
// rows by nothing but lookups of given keys, then the result is a function of the rows with these keys (and
// of the other tables), now and whenever the same program would run. Another plan for the same statement
// computes the same result, so it does not matter which one runs.
//
// Invariants
//  1. A cursor on a table may be moved only by a lookup of its row id, or within a range of them (`KeyRanges`);
//     one on a unique index (or on a table without row ids) only by a lookup of all of its columns at once.
//     Anything else, and the whole table counts.
//  2. All cursors on a table and its indexes have to be so: a self-join, a subquery on the same table is a
//     cursor more.
//  3. The key of a lookup must come from parameters and constants of the statement alone, through nothing
//     but copies, the list of an IN, and conversions to the column's own affinity.
//  4. A program with an opcode that is not known (`ProgramOpcode`) is not judged at all.
//
// Steps: schema → which root page is which table or index → cursors → how each is moved → where the keys come
// from.

import SQLiteConnection

/// Where a part of a key comes from.
enum KeySource: Hashable, Sendable {
  /// A parameter, counted from 1.
  case parameter(Int)
  case integer(Int64)
  case text(String)
}

/// One way in which a statement looks rows of a table up.
enum KeyLookup: Hashable, Sendable {
  case rowID(Set<KeySource>)
  /// All with row ids from one key to another; nil where there is no end.
  case range(from: Set<KeySource>?, to: Set<KeySource>?)
  /// By all columns of a unique index, or of the key of a table without row ids, in its order.
  case unique(columns: [String], fields: [Set<KeySource>])
}

/// What a program looks up, by table; tables that it reads in any other way are not listed.
struct KeyLookups {
  let steps: [ProgramStep]
  let opcodes: [ProgramOpcode]
  private let blockStarts: Set<Int>

  /// - Returns: nil for a program that cannot be judged.
  init?(_ steps: [ProgramStep]) {
    var opcodes: [ProgramOpcode] = []
    var starts: Set<Int> = []
    for (index, step) in steps.enumerated() {
      guard step.address == index, let opcode = ProgramOpcode[step.opcode] else { return nil }
      switch step.opcode {
      // Earlier versions could store the comparison's result.
      case "Eq", "Ne", "Lt", "Le", "Gt", "Ge": if step.p5 & 0x20 != 0 { return nil }
      // The root page may be the value of a register.
      case "OpenRead", "ReopenIdx": if step.p5 & 0x10 != 0 { return nil }
      case "Jump", "InitCoroutine": starts.formUnion([step.p1, step.p3])
      default: break
      }
      if opcode.mayJump { starts.insert(step.p2) }
      if opcode.leaves { starts.insert(index + 1) }
      opcodes.append(opcode)
    }
    self.steps = steps
    self.opcodes = opcodes
    blockStarts = starts
  }

  /// Returns the lookups of each table that is read by lookups only.
  func tables(in schema: SchemaObjects, on sqlite: Connection) throws -> [String: Set<KeyLookup>] {
    var found: [String: Set<KeyLookup>] = [:]
    var refused: Set<String> = []
    for (cursor, pages) in Self.roots(of: steps) {
      for page in pages {
        guard let root = schema.root(page) else { return [:] }
        let lookups =
          pages.count == 1 ? try self.lookups(by: cursor, on: root, in: schema, sqlite) : nil
        if let lookups {
          found[root.table, default: []].formUnion(lookups)
        } else {
          refused.insert(root.table)
        }
      }
    }
    return found.filter { !refused.contains($0.key) && !$0.value.isEmpty }
  }

  /// Returns the root pages that each cursor is opened on in the main database.
  static func roots(of steps: [ProgramStep]) -> [Int: Set<Int64>] {
    var roots: [Int: Set<Int64>] = [:]
    for step in steps where step.opcode == "OpenRead" || step.opcode == "ReopenIdx" {
      if step.p3 == 0 { roots[step.p1, default: []].insert(Int64(step.p2)) }
    }
    return roots
  }

  // MARK: Cursors

  private func lookups(
    by cursor: Int, on root: SchemaObjects.Root, in schema: SchemaObjects, _ sqlite: Connection
  ) throws -> Set<KeyLookup>? {
    let shape = try schema.table(root.table, on: sqlite)
    if root.index == nil, !shape.isWithoutRowID {
      return rowIDLookups(by: cursor) ?? rowIDRanges(by: cursor)
    }
    guard let columns = shape.uniqueColumns(ofIndex: root.index) else { return nil }
    return uniqueLookups(by: cursor, columns)
  }

  private func rowIDLookups(by cursor: Int) -> Set<KeyLookup>? {
    var result: Set<KeyLookup> = []
    for (index, step) in steps.enumerated() where opcodes[index].isOnCursor && step.p1 == cursor {
      switch step.opcode {
      case "OpenRead", "ReopenIdx", "Column", "Rowid", "ColumnsUsed", "NullRow", "IfNullRow",
        "FinishSeek", "Close", "Offset":
        continue
      case "SeekRowid", "NotExists":
        guard let sources = sources(of: step.p3, before: index) else { return nil }
        result.insert(.rowID(sources))
      default: return nil
      }
    }
    return result
  }

  private func uniqueLookups(by cursor: Int, _ columns: [String]) -> Set<KeyLookup>? {
    var result: Set<KeyLookup> = []
    /// The tests that stand right behind a seek for the same key.
    var ends: Set<Int> = []
    var moves: [ProgramStep] = []
    for (index, step) in steps.enumerated() where opcodes[index].isOnCursor && step.p1 == cursor {
      switch step.opcode {
      case "OpenRead", "ReopenIdx", "Column", "IdxRowid", "ColumnsUsed", "NullRow", "IfNullRow",
        "FinishSeek", "Close", "DeferredSeek", "SeekHit":
        continue
      case "SeekGE", "SeekLE":
        guard let end = end(of: step, at: index, count: columns.count),
          let lookup = lookup(of: step, at: index, columns)
        else { return nil }
        ends.insert(end)
        result.insert(lookup)
      case "NotFound", "Found":
        guard Int(step.p4 ?? "") == columns.count, let lookup = lookup(of: step, at: index, columns)
        else { return nil }
        result.insert(lookup)
      case "IdxGT", "IdxLT", "Next", "Prev": moves.append(step)
      default: return nil
      }
    }
    for step in moves {
      let isTest = step.opcode.hasPrefix("Idx")
      guard ends.contains(isTest ? step.address : step.p2) else { return nil }
    }
    return result
  }

  /// Returns the address of the test behind a seek that lets only equal keys pass.
  private func end(of seek: ProgramStep, at index: Int, count: Int) -> Int? {
    guard Int(seek.p4 ?? "") == count, index + 1 < steps.count else { return nil }
    let test = steps[index + 1]
    guard test.opcode == (seek.opcode == "SeekGE" ? "IdxGT" : "IdxLT"), test.p1 == seek.p1,
      test.p3 == seek.p3, test.p4 == seek.p4
    else { return nil }
    return index + 1
  }

  private func lookup(
    of step: ProgramStep, at index: Int, _ columns: [String]
  ) -> KeyLookup? {
    var fields: [Set<KeySource>] = []
    for offset in columns.indices {
      guard let sources = sources(of: step.p3 + offset, before: index) else { return nil }
      fields.append(sources)
    }
    return .unique(columns: columns, fields: fields)
  }

  // MARK: Values

  /// Returns where a register's value comes from when a step is reached; nil when that cannot be told.
  func sources(of register: Int, before address: Int, depth: Int = 0) -> Set<KeySource>? {
    guard depth < 8, let definitions = definitions(of: register, before: address) else {
      return nil
    }
    var result: Set<KeySource> = []
    for step in definitions {
      switch step.opcode {
      case "Variable": result.insert(.parameter(step.p1))
      case "Integer": result.insert(.integer(Int64(step.p1)))
      case "Int64":
        guard let number = Int64(step.p4 ?? "") else { return nil }
        result.insert(.integer(number))
      case "String8":
        guard let text = step.p4 else { return nil }
        result.insert(.text(text))
      case "Copy", "SCopy", "IntCopy":
        let source = step.p1 + register - step.p2
        guard let more = sources(of: source, before: step.address, depth: depth + 1) else {
          return nil
        }
        result.formUnion(more)
      case "Column":
        guard let more = listed(in: step.p1, column: step.p2, depth: depth + 1) else { return nil }
        result.formUnion(more)
      default: return nil
      }
    }
    return result
  }

  /// Returns what is put into a column of a list that the program makes for itself.
  private func listed(in cursor: Int, column: Int, depth: Int) -> Set<KeySource>? {
    var isMade = false
    var result: Set<KeySource> = []
    for (index, step) in steps.enumerated() where opcodes[index].isOnCursor {
      if step.opcode == "OpenDup", step.p1 == cursor || step.p2 == cursor { return nil }
      guard step.p1 == cursor else { continue }
      switch step.opcode {
      case "OpenEphemeral": isMade = true
      case "IdxInsert":
        guard let records = definitions(of: step.p2, before: index) else { return nil }
        for record in records {
          guard record.opcode == "MakeRecord", column < record.p2,
            let more = sources(
              of: record.p1 + column, before: record.address, depth: depth + 1)
          else { return nil }
          result.formUnion(more)
        }
      case "Rewind", "Last", "Next", "Prev", "Column", "NullRow", "Close": continue
      default: return nil
      }
    }
    return isMade ? result : nil
  }

  /// Returns the steps that can have given a register its value when a step is reached.
  ///
  /// That is the nearest one before it, if nothing jumps in between; else all there are.
  private func definitions(of register: Int, before address: Int) -> [ProgramStep]? {
    var index = address
    while !blockStarts.contains(index), index > 0 {
      index -= 1
      if steps[index].changes(register, as: opcodes[index]) { return [steps[index]] }
    }
    let all = steps.indices.filter { steps[$0].changes(register, as: opcodes[$0]) }
    return all.isEmpty ? nil : all.map { steps[$0] }
  }
}
