import BoutiqueDB
import Foundation
import ProcessHarness
import Testing

extension MultiProcess {
  /// Holds every line of the truth table: each statement is run by this library, by the `sqlite3` shell and
  /// by Python, and the change feed of another open database is read.
  @Suite struct TruthTableTests {
    enum Writer: String, CaseIterable, Sendable {
      case library
      case shell
      case python
    }

    /// The library, and one of the two foreign programs for each statement in turn: coarse looks at neither.
    private static let coarsely: [(TruthTable.Case, Writer)] =
      TruthTable.cases.enumerated().flatMap { number, example in
        [(example, .library), (example, number % 2 == 0 ? .shell : .python)]
      }

    @Test(arguments: coarsely)
    func `a statement is described as the table says, coarse`(
      _ example: TruthTable.Case, by writer: Writer
    ) async throws {
      try await check(
        example, by: writer, capture: .coarse,
        expected: writer == .library ? example.own : example.coarse)
    }

    @Test(arguments: TruthTable.cases, Writer.allCases)
    func `a statement is described as the table says, precise`(
      _ example: TruthTable.Case, by writer: Writer
    ) async throws {
      try await check(
        example, by: writer, capture: .precise,
        expected: writer == .library ? example.own : example.precise)
    }

    private func check(
      _ example: TruthTable.Case, by writer: Writer,
      capture: BoutiqueConfiguration.ForeignCapture, expected: String
    ) async throws {
      try await withScene { scene in
        var configuration = BoutiqueConfiguration()
        configuration.foreignCapture = capture
        configuration.synchronous = .off
        let plan = BoutiqueMigrationPlan {
          BoutiqueMigration("tables") { conn in
            try conn.executeScript(example.tables.sql)
            try conn.executeScript("CREATE TABLE marker (n)")
          }
        }
        let db = try await BoutiqueDB.open(
          path: scene.path, configuration: configuration, migrations: plan)
        let run = TruthTableRun(scene: scene, db: db, example: example)
        let found: String
        do {
          found = try await run.description(by: writer)
        } catch {
          await db.close()
          throw error
        }
        await db.close()
        guard !found.isEmpty else { return }
        #expect(found == expected, "\(example.title) by \(writer.rawValue)")
      }
    }
  }
}

/// One statement on its way from a writer to the feed of another open database.
struct TruthTableRun {
  let scene: Scene
  let db: BoutiqueDB
  let example: TruthTable.Case

  private var backup: String { scene.directory + "/copy.db" }

  /// Runs the statement and returns what the feed says; empty where the writer cannot do it.
  func description(by writer: MultiProcess.TruthTableTests.Writer) async throws -> String {
    try await db.backup(to: URL(filePath: backup))
    for statement in example.before {
      try await scene.shell(statement)
      // Whatever we write next looks at what happened before.
      try await mark(-1)
    }
    try await mark(0)
    let start = try await db.currentToken()
    switch writer {
    case .library:
      switch example.library {
      case .none: return ""
      case .refuses: return try await refusal()
      case .write, .vacuum: try await runByLibrary()
      }
    case .shell: guard try await runByShell() else { return "" }
    case .python: guard try await runByPython() else { return "" }
    }
    do {
      try await mark(1)
      return try await text(of: changes(since: start))
    } catch let error as BoutiqueError {
      guard case .fileReplaced = error else { throw error }
      return "error fileReplaced"
    }
  }

  private func mark(_ number: Int) async throws {
    try await db.write { _ = try $0.execute("INSERT INTO marker VALUES (?)", number) }
  }

  // MARK: Writers

  /// The statement as a closure may run it: transactions and foreign keys are the library's.
  private var closureSQL: String {
    ["PRAGMA foreign_keys = ON; ", "BEGIN; ", "; COMMIT"].reduce(example.sql) {
      $0.replacingOccurrences(of: $1, with: "")
    }
  }

  private func withOther(_ body: (BoutiqueDB) async throws -> Void) async throws {
    let other = try await BoutiqueDB.open(path: scene.path)
    do {
      try await body(other)
    } catch {
      await other.close()
      throw error
    }
    await other.close()
  }

  private func runByLibrary() async throws {
    let sql = closureSQL
    let isVacuum = if case .vacuum = example.library { true } else { false }
    try await withOther { other in
      if isVacuum {
        try await other.vacuum()
      } else {
        try await other.write { try $0.executeScript(sql) }
      }
    }
  }

  private func refusal() async throws -> String {
    let sql = closureSQL
    var text = "admitted"
    try await withOther { other in
      do {
        try await other.write { try $0.executeScript(sql) }
      } catch BoutiqueError.statementRefused {
        text = "refused"
      }
    }
    return text
  }

  private func runByShell() async throws -> Bool {
    if let arguments = example.shell, arguments.isEmpty { return false }
    var arguments = ["-batch", "-bail", "-cmd", ".timeout 30000"]
    if let shell = example.shell {
      if shell.first != ":memory:" { arguments.append(scene.path) }
      arguments += shell.map {
        $0.replacingOccurrences(of: "{path}", with: scene.path)
          .replacingOccurrences(of: "{backup}", with: backup)
      }
    } else {
      arguments += [scene.path, example.sql]
    }
    try await end(ChildCommand("sqlite3", arguments))
    return true
  }

  private func runByPython() async throws -> Bool {
    let program = example.python ?? "db.executescript(sql)"
    guard !program.isEmpty else { return false }
    let prelude = """
      import sqlite3, sys
      path, backup, sql = sys.argv[1:]
      db = sqlite3.connect(path, timeout=60, isolation_level=None)

      """
    try await end(
      ChildCommand("python3", ["-c", prelude + program, scene.path, backup, example.sql]))
    return true
  }

  private func end(_ command: ChildCommand) async throws {
    let child = try await scene.children.start(command)
    let status = try await child.exit()
    if status != .exited(0) { throw child.failure(.ended(status), "success of \(example.title)") }
  }

  // MARK: What the feed says

  private func changes(since start: ChangeToken) async throws -> [BoutiqueChange] {
    var all: [BoutiqueChange] = []
    for try await change in db.changes(since: start) {
      if change.tables == ["marker"] { return all }
      all.append(change)
      // The marker may be a part of it, where the log is another one.
      if change.isEverything { try await mark(2) }
    }
    return all
  }

  private func text(of changes: [BoutiqueChange]) async throws -> String {
    var parts: [String] = []
    for change in changes {
      if change.isEverything {
        if parts.last != "everything" { parts.append("everything") }
      } else {
        let text = try await text(of: change)
        if !text.isEmpty { parts.append(text) }
      }
    }
    return parts.isEmpty ? "nothing" : parts.joined(separator: "; then ")
  }

  /// Whether a table is what a virtual one keeps its content in.
  private func isShadow(_ table: String) -> Bool {
    example.tables == .virtual && table.contains("_") && table != "sqlite_schema"
  }

  private func text(of change: BoutiqueChange) async throws -> String {
    var parts: [(table: String, text: String)] = []
    for row in change.rows where !isShadow(row.table) {
      let text = try await text(of: row)
      if parts.last?.table == row.table {
        parts[parts.count - 1].text += ", " + text
      } else {
        parts.append((row.table, "\(row.table): \(text)"))
      }
    }
    let wholes = change.wholeTables.filter { !isShadow($0) }.sorted().map { "\($0) whole" }
    return (parts.map(\.text) + (wholes.isEmpty ? [] : [wholes.joined(separator: ", ")]))
      .joined(separator: "; ")
  }

  private func text(of row: RowChange) async throws -> String {
    let key = row.key.map { value in
      switch value {
      case .text(let text): text
      case .blob(let bytes): "x'" + bytes.map { String($0, radix: 16) }.joined(separator: " ") + "'"
      default: "\(value)"
      }
    }.joined(separator: ", ")
    let isWithoutRowID = ["w", "select"].contains(row.table)
    var text = "\(row.kind.rawValue) " + (isWithoutRowID ? "(\(key))" : key)
    guard row.kind == .update else { return text }
    let names = try await db.read { conn in
      try conn.query("SELECT name FROM pragma_table_xinfo(?) ORDER BY cid", row.table)
        .map { try $0.decode(0, as: String.self) }
    }
    text +=
      " ("
      + row.columns.map { names.indices.contains($0) ? names[$0] : "\($0)" }
      .joined(separator: ", ") + ")"
    return text
  }
}

extension TruthTable.Case: CustomTestStringConvertible {
  var testDescription: String { title }
}
