import BoutiqueDB
import Foundation
import ProcessHarness
package import StressHistory
import StressReport

/// The database after a run, read by the library and by a program that does not know it.
///
/// The end check that all workloads share: both readers must get the same rows, SQLite must find the file
/// whole, and the library's change log must be dense and in order. Read it with all workers ended.
package struct FinalState: Sendable {
  /// Values as text, each with a letter for its type in front: what two readers can be compared by.
  private let rows: [String: [[String]]]
  /// What must not be.
  package let violations: [Violation]

  /// Reads the answers of some queries, by names of the caller's choice; each should say its order.
  ///
  /// The foreign reader comes first with odd seeds and last with even ones: who opens the file first after a
  /// crash recovers it, and who closes it last empties the log.
  package static func read(
    _ run: RunContext, _ queries: [String: String]
  ) async throws -> FinalState {
    var violations: [Violation] = []
    var foreign: [String: [[String]]] = [:]
    var own: [String: [[String]]] = [:]
    let foreignFirst = run.plan.seed % 2 == 1
    for isForeign in [foreignFirst, !foreignFirst] {
      do {
        if isForeign {
          foreign = try await readAsForeigner(run, queries, &violations)
        } else {
          own = try await readWithLibrary(run, queries, &violations)
        }
      } catch {
        let reader = isForeign ? "Python" : "the library"
        violations.append(
          Violation(check: "unreadable", text: "\(reader) cannot read the database: \(error)"))
      }
    }
    if violations.isEmpty {
      for (name, rows) in own where foreign[name] != rows {
        violations.append(
          Violation(
            check: "two readings",
            text: "the library and Python read different rows of \(name): "
              + difference(rows, foreign[name] ?? [])))
      }
    }
    return FinalState(rows: own.isEmpty ? foreign : own, violations: violations)
  }

  /// The rows of a query; numbers and texts as they are, NULL as an empty text.
  package func texts(_ query: String) -> [[String]] {
    (rows[query] ?? []).map { $0.map { String($0.dropFirst()) } }
  }

  /// The rows of a query whose values are whole numbers; others are 0.
  package func integers(_ query: String) -> [[Int64]] {
    (rows[query] ?? []).map { $0.map { Int64($0.dropFirst()) ?? 0 } }
  }

  private static func difference(_ a: [[String]], _ b: [[String]]) -> String {
    for index in 0..<max(a.count, b.count) {
      let (x, y) = (a.dropFirst(index).first, b.dropFirst(index).first)
      if x != y { return "row \(index) is \(x ?? []) and \(y ?? [])" }
    }
    return "none"
  }

  // MARK: The library

  private static func readWithLibrary(
    _ run: RunContext, _ queries: [String: String], _ violations: inout [Violation]
  ) async throws -> [String: [[String]]] {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "final state"))
    do {
      let problems = try await db.integrityCheck()
      if !problems.isEmpty {
        violations.append(
          Violation(
            check: "integrity", text: "the library: " + problems.prefix(5).joined(separator: "; ")))
      }
      let answers = try await db.read { connection in
        var answers: [String: [[String]]] = [:]
        for (name, sql) in queries {
          var rows: [[String]] = []
          try connection.forEachRow(sql) { rows.append($0.values.map(text)) }
          answers[name] = rows
        }
        return answers
      }
      await db.close()
      return answers
    } catch {
      await db.close()
      throw error
    }
  }

  private static func text(_ value: SQLValue) -> String {
    switch value {
    case .null: "N"
    case .integer(let value): "I\(value)"
    case .real(let value): "R\(String(value.bitPattern, radix: 16))"
    case .text(let value): "T" + value
    case .blob(let bytes):
      "B" + bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }
  }

  // MARK: Python

  /// Arguments: the database, the file for the answers; standard input: the queries by name.
  ///
  /// An answer's row is a line: the query's name and the values, with tabs between.
  private static let program = """
    import json, sqlite3, struct, sys
    def cell(v):
        if v is None: return "N"
        if isinstance(v, int): return "I%d" % v
        if isinstance(v, float): return "R%x" % struct.unpack(">Q", struct.pack(">d", v))[0]
        if isinstance(v, str): return "T" + v.replace("\\\\", "\\\\\\\\").replace("\\t", "\\\\t").replace("\\n", "\\\\n")
        return "B" + bytes(v).hex()
    def log_problems(db):
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'boutiquedb_cdc'").fetchone(): return
        last = None
        for token, first, tables, changes in db.execute(
                "SELECT token, first, tables, changes FROM boutiquedb_cdc ORDER BY token"):
            if last is not None and first != last + 1:
                yield "change log: %d is followed by %d" % (last, first)
            try: count = len(json.loads(changes)); json.loads(tables)
            except ValueError: yield "change log: row %d is no JSON" % token; count = token - first
            # Commits that change nothing, as acknowledgements, share a row when they follow each other.
            if token != first + count and count > 0:
                yield "change log: row %d...%d has %d changes" % (first, token, count)
            last = token
    try:
        db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
        queries = json.loads(sys.stdin.readline())
        problems = [r[0] for r in db.execute("PRAGMA integrity_check")]
        if problems == ["ok"]: problems = []
        problems += ["foreign key: row %s of %s" % (r[1], r[0]) for r in db.execute("PRAGMA foreign_key_check")]
        db.execute("BEGIN")
        problems += log_problems(db)
        with open(sys.argv[2], "w", encoding="utf-8", newline="\\n") as out:
            for name, sql in queries.items():
                for row in db.execute(sql):
                    out.write("\\t".join([name] + [cell(v) for v in row]) + "\\n")
        db.execute("COMMIT")
        db.close()
        print(json.dumps({"problems": problems[:20]}))
    except sqlite3.Error as error:
        print(json.dumps({"error": str(error)}))
    """

  private static func readAsForeigner(
    _ run: RunContext, _ queries: [String: String], _ violations: inout [Violation]
  ) async throws -> [String: [[String]]] {
    let file = run.directory + "/final-state.txt"
    let input = String(decoding: try JSONEncoder().encode(queries), as: UTF8.self)
    let answer = try await withChildProcesses { children in
      let child = try await children.start(
        ChildCommand("python3", ["-c", program, run.database, file]))
      child.send(input)
      return try await child.nextMessage("the final state", within: .seconds(300)) { _ in true }
    }
    if let error = answer["error"]?.string { throw StressError(text: error) }
    let problems = (answer["problems"]?.list ?? []).compactMap(\.string)
    if !problems.isEmpty {
      violations.append(
        Violation(
          check: "integrity", text: "Python: " + problems.prefix(5).joined(separator: "; ")))
    }
    var answers: [String: [[String]]] = queries.mapValues { _ in [] }
    let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    for line in text.split(separator: "\n") {
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
      guard let name = cells.first.map(String.init) else { continue }
      answers[name, default: []].append(cells.dropFirst().map(unescaped))
    }
    return answers
  }

  private static func unescaped(_ cell: Substring) -> String {
    guard cell.utf8.contains(UInt8(ascii: "\\")) else { return String(cell) }
    var text = ""
    var isEscaped = false
    for character in cell.unicodeScalars {
      if isEscaped {
        text.unicodeScalars.append(
          character == "t" ? "\t" : character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
