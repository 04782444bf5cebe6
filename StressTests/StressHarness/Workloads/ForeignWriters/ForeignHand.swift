import Foundation
import ProcessHarness
import StressHistory

/// A foreign program that does what it is told, one transaction after the other, and dies now and then.
final class ForeignHand: Sendable {
  enum Kind: Sendable {
    case python
    case shell
  }

  /// How a transaction ended, as far as one can know.
  enum Ending: Sendable {
    case done
    /// It has certainly no effect: it was killed before its commit, or said so.
    case undone(String)
    case unknown(String)
  }

  private let kind: Kind
  private let database: String
  private let children: ChildProcesses

  init(_ kind: Kind, database: String, _ children: ChildProcesses) {
    self.kind = kind
    self.database = database
    self.children = children
  }

  /// Starts the program.
  func start() async throws -> ChildProcess {
    switch kind {
    case .python:
      return try await ForeignProgram.start(
        ForeignProgram.python(Self.text, database: database), children)
    case .shell:
      return try await ForeignProgram.start(
        ForeignProgram.shell(database: database, settings: ["PRAGMA synchronous = NORMAL"]),
        children)
    }
  }

  private static let text = """
    db = connect()
    db.execute("PRAGMA synchronous = NORMAL")
    for line in sys.stdin:
        command = json.loads(line)
        try:
            db.execute("BEGIN IMMEDIATE")
            for sql in command["sql"]: db.execute(sql)
            if command["stops"]:
                say(stopped=command["number"])
                time.sleep(1000)
            db.execute("COMMIT")
            say(done=command["number"])
        except sqlite3.Error as error:
            if db.in_transaction: db.execute("ROLLBACK")
            say(refused=command["number"], text=str(error))

    """

  /// Has a transaction done.
  ///
  /// - Parameter dies: whether it is killed before its commit.
  func transact(
    _ program: ChildProcess, number: Int, _ statements: [String], dies: Bool
  ) async -> Ending {
    do {
      switch kind {
      case .python:
        let command: JSONValue = [
          "number": .integer(Int64(number)), "sql": .list(statements.map { .text($0) }),
          "stops": .bool(dies),
        ]
        program.send(try command.line())
        let answer = try await program.nextMessage("an answer", within: .seconds(120)) {
          [$0["done"], $0["stopped"], $0["refused"]].contains { $0?.int == number }
        }
        if answer["done"] != nil { return .done }
        if answer["refused"] != nil {
          let text = answer["text"]?.string ?? "refused"
          // A commit that a disk has failed may be found when the log is recovered.
          return text.contains("disk") || text.contains("malformed")
            ? .unknown(text) : .undone(text)
        }
      case .shell:
        program.send("BEGIN IMMEDIATE;")
        for statement in statements { program.send(statement + ";") }
        if !dies { program.send("COMMIT;") }
        program.send("SELECT 'did \(number)';")
        let line = try await program.next("an answer", within: .seconds(120)) {
          $0.text == "did \(number)" || $0.text.contains("rror")
        }
        if line.text != "did \(number)" {
          // Only a statement that came before the commit can have failed, or the commit itself.
          await program.end()
          return .unknown(line.text)
        }
        if !dies { return .done }
      }
      await program.end()
      return .undone("killed in mid-transaction")
    } catch {
      await program.end()
      return .unknown("\(error)")
    }
  }
}
