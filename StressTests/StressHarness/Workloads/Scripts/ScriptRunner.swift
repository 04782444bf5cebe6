import BoutiqueDB
import Foundation
import ProcessHarness
import Synchronization

/// Leads the clients of one script through it.
package struct ScriptRunner: Sendable {
  let script: Script
  let database: String
  let program: String

  /// Reads a script.
  ///
  /// - Parameters:
  ///   - text: the script.
  ///   - database: a file that does not exist yet.
  ///   - program: `boutique-stress`, which plays the library's clients.
  package init(
    _ text: String, name: String, variant: String, database: String, program: String
  ) throws {
    script = try Script(text, name: name, variant: variant)
    self.database = database
    self.program = program
  }

  /// The variants that a script names; one without a name where it names none.
  package static func variants(of text: String) -> [String] {
    for line in text.split(separator: "\n") where line.hasPrefix("variants ") {
      return line.split(separator: " ").dropFirst().map(String.init)
    }
    return [""]
  }

  /// Runs it, and returns what was wrong; nothing when all was as the script says.
  package func problems() async throws -> [String] {
    try await withChildProcesses { children in
      let leading = ScriptLeading(self, children)
      do {
        for step in script.steps { try await leading.perform(step) }
        return await leading.end().map { "\(script.name): \($0)" }
      } catch {
        return await leading.end().map { "\(script.name): \($0)" } + ["\(script.name): \(error)"]
      }
    }
  }
}

/// The leader while a script runs.
private actor ScriptLeading {
  private let runner: ScriptRunner
  private let children: ChildProcesses
  private var hands: [Int: ScriptHand] = [:]
  private var made: [String] = []
  private var isMade = false
  private var db: BoutiqueDB?
  private var observed: [(sql: String, task: Task<Void, Never>, last: LastText)] = []
  private var problems: [String] = []

  init(_ runner: ScriptRunner, _ children: ChildProcesses) {
    self.runner = runner
    self.children = children
  }

  func perform(_ step: Script.Step) async throws {
    switch step {
    case .make(let sql): made.append(sql)
    case .client(let number, let kind, let setting):
      hands[number] = ScriptHand(
        number, kind, setting: setting, database: runner.database, program: runner.program, children
      )
    case .open:
      try await make()
      db = try await BoutiqueDB.open(path: runner.database, configuration: configuration)
    case .close:
      try await make()
      for (_, task, _) in observed { task.cancel() }
      observed = []
      await db?.close()
      db = nil
    case .run(let statement):
      let library = ScriptLibrary(db: try await opened())
      var answers: [ScriptAnswer] = []
      await library.perform([statement.sql]) { answers.append($1) }
      problems += answers.compactMap(statement.problem)
    case .observe(let sql): observe(sql, try await opened())
    case .tell(let numbers, let statements):
      try await make()
      for number in numbers { await hands[number]?.tell(statements) }
    case .wait(let number):
      for (key, hand) in hands.sorted(by: { $0.key < $1.key }) where number ?? key == key {
        problems += await hand.wait()
      }
    case .leave(let number): problems += await hands[number]?.end() ?? []
    case .settle: try await settle(try await opened())
    case .check: try await check()
    }
  }

  /// Ends all, and returns what was wrong.
  func end() async -> [String] {
    for (_, hand) in hands.sorted(by: { $0.key < $1.key }) { problems += await hand.end() }
    for (_, task, _) in observed { task.cancel() }
    await db?.close()
    return problems
  }

  private var configuration: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.label = "script leader"
    configuration.writeLockTimeout = .seconds(60)
    return configuration
  }

  private func make() async throws {
    if isMade { return }
    isMade = true
    let text = """
      db = connect()
      for sql in json.loads(sys.stdin.readline()): db.execute(sql).fetchall()
      db.close()
      say(made=True)

      """
    _ = try await ForeignProgram.result(
      text, database: runner.database,
      input: try JSONValue.list(made.map { .text($0) }).line())
  }

  private func opened() async throws -> BoutiqueDB {
    if db == nil { try await perform(.open) }
    guard let db else { throw ScriptError(text: "the leader has not opened the database") }
    return db
  }

  // MARK: Live queries

  private func observe(_ sql: String, _ db: BoutiqueDB) {
    let last = LastText()
    let task = Task {
      var iterator = db.observe { ScriptLibrary.text(try $0.query(sql)) }.makeAsyncIterator()
      while !Task.isCancelled {
        do {
          guard let text = try await iterator.next() else { return }
          last.text.withLock { $0 = text }
        } catch {
          last.text.withLock { $0 = "\(error)" }
          switch error {
          case BoutiqueError.closed, BoutiqueError.fileReplaced: return
          default: break
          }
        }
      }
    }
    observed.append((sql, task, last))
  }

  private func settle(_ db: BoutiqueDB) async throws {
    for (sql, _, last) in observed {
      var (truth, shown) = ("", "")
      for _ in 0..<3000 {
        truth = try await db.read { ScriptLibrary.text(try $0.query(sql)) }
        shown = last.text.withLock { $0 }
        if truth == shown { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      if truth != shown { problems.append("the live query \(sql) shows \(shown), not \(truth)") }
    }
  }

  private func check() async throws {
    if let db { problems += try await db.integrityCheck() }
    let text = "say(check=[r[0] for r in connect().execute('PRAGMA integrity_check')])\n"
    let answer = try await ForeignProgram.result(text, database: runner.database)
    if answer["check"] != ["ok"] { problems.append("Python finds damage: \(answer)") }
  }
}

/// What a live query has shown last.
private final class LastText: Sendable {
  let text = Mutex("")
}
