import Foundation
import ProcessHarness

/// A client of a script, seen from its leader: a process that gets one task after the other.
actor ScriptHand {
  private let number: Int
  private let kind: ScriptClientKind
  private let setting: String?
  private let database: String
  private let program: String
  private let children: ChildProcesses
  private var process: ChildProcess?
  private var last: Task<[String], Never>?

  init(
    _ number: Int, _ kind: ScriptClientKind, setting: String?, database: String, program: String,
    _ children: ChildProcesses
  ) {
    self.number = number
    self.kind = kind
    self.setting = setting
    self.database = database
    self.program = program
    self.children = children
  }

  /// Gives it a task, to be begun when those before are done.
  func tell(_ statements: [ScriptStatement]) {
    let before = last
    last = Task { [self] in
      let problems = await before?.value ?? []
      return problems + (await perform(statements))
    }
  }

  /// Waits for its tasks, and returns what was wrong with them.
  func wait() async -> [String] {
    let problems = await last?.value ?? []
    last = nil
    return problems
  }

  /// Ends it in order: its input ends, it closes, and is gone.
  func end() async -> [String] {
    var problems = await wait()
    guard let process else { return problems }
    process.closeInput()
    do {
      let status = try await process.exit()
      // The shell's is 1 once a statement has failed, also one that had to.
      let isInOrder = status == .exited(0) || kind == .shell && status == .exited(1)
      if !isInOrder { problems.append("client \(number) ended with \(status)") }
    } catch {
      problems.append("client \(number) does not end: \(error)")
      await process.end()
    }
    self.process = nil
    return problems
  }

  // MARK: Tasks

  private func perform(_ given: [ScriptStatement]) async -> [String] {
    let statements = given.map { statement in
      var statement = statement
      statement.sql = statement.sql.replacing("$c", with: "\(number)")
      return statement
    }
    do {
      let process: ChildProcess
      if let running = self.process {
        process = running
      } else {
        process = try await start()
        self.process = process
      }
      let problems =
        kind == .shell
        ? try await drive(process, statements) : try await send(process, statements)
      if statements.contains(where: { $0.sql == "crash" }) {
        let status = try await process.exit()
        self.process = nil
        return status == .signalled(SIGKILL) ? problems : problems + ["no crash, but \(status)"]
      }
      return problems
    } catch {
      await process?.end()
      process = nil
      return ["client \(number), \(kind): \(error)"]
    }
  }

  private func start() async throws -> ChildProcess {
    switch kind {
    case .library:
      return try await children.start(
        ChildCommand(
          program, [WorkerProgram.option, ScriptClient.option, database, setting ?? ""]))
    case .python:
      return try await children.start(
        ForeignProgram.python(Self.python, database: database, [setting ?? "SELECT 1"]))
    case .shell:
      let shell = try await children.start(
        ForeignProgram.shell(
          database: database, endsAtError: false,
          settings: [".nullvalue NULL", ".separator ' '"] + (setting.map { [$0] } ?? [])))
      // Some pragmas answer with their value.
      shell.send("SELECT '@ ready';")
      while try await shell.next("its beginning", where: { _ in true }).text != "@ ready" {}
      return shell
    }
  }

  private static let python = """
    db = connect()
    db.execute(sys.argv[2])
    def text(v):
        return "NULL" if v is None else "%d bytes" % len(v) if isinstance(v, bytes) else str(v)
    for line in sys.stdin:
        for place, sql in enumerate(json.loads(line)):
            if sql == "crash": os.kill(os.getpid(), 9)
            if sql == "begin": sql = "BEGIN IMMEDIATE"
            if sql == "CHECKPOINT": sql = "PRAGMA wal_checkpoint(TRUNCATE)"
            try:
                rows = db.execute(sql).fetchall()
                say(line=place, values=" ".join(" ".join(text(v) for v in row) for row in rows))
            except sqlite3.Error as error:
                say(line=place, error=str(error))
        say(done=True)

    """

  /// Sends a task to a client that understands tasks, and compares its answers.
  private func send(
    _ process: ChildProcess, _ statements: [ScriptStatement]
  ) async throws -> [String] {
    process.send(try JSONValue.list(statements.map { .text($0.sql) }).line())
    var problems: [String] = []
    let crash = statements.firstIndex { $0.sql == "crash" }
    while true {
      let message: JSONValue
      do {
        message = try await process.nextMessage("an answer", within: .seconds(180)) { _ in true }
      } catch  where crash != nil {
        // What it had to say before it died was said to nobody: its process is what counts.
        return problems
      }
      guard let place = message["line"]?.int, statements.indices.contains(place) else {
        return problems
      }
      let answer: ScriptAnswer =
        message["error"]?.string.map { .error($0) } ?? .values(message["values"]?.string ?? "")
      if ["begin", "commit", "rollback"].contains(statements[place].sql), case .values = answer {
        continue
      }
      if let problem = statements[place].problem(with: answer) {
        problems.append("client \(number), \(kind): \(problem)")
      }
    }
  }

  /// Types statements into the shell, one by one.
  private func drive(
    _ process: ChildProcess, _ statements: [ScriptStatement]
  ) async throws -> [String] {
    var problems: [String] = []
    for (place, statement) in statements.enumerated() {
      switch statement.sql {
      case "crash":
        // Its parent is the shell itself.
        process.send(".shell kill -9 $PPID")
        return problems
      case "begin": process.send("BEGIN IMMEDIATE;")
      case "CHECKPOINT": process.send("PRAGMA wal_checkpoint(TRUNCATE);")
      default: process.send(statement.sql + ";")
      }
      process.send("SELECT '@ \(place)';")
      var lines: [String] = []
      while true {
        let line = try await process.next("an answer", within: .seconds(180)) { _ in true }.text
        if line == "@ \(place)" { break }
        lines.append(line)
      }
      let error = lines.first {
        $0.hasPrefix("Runtime error") || $0.hasPrefix("Parse error") || $0.hasPrefix("Error")
      }
      let answer: ScriptAnswer =
        error.map { .error($0) } ?? .values(lines.joined(separator: " "))
      if let problem = statement.problem(with: answer) {
        problems.append("client \(number), shell: \(problem)")
      }
    }
    return problems
  }
}
