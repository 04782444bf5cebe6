import BoutiqueDB
import Foundation
import Glibc

/// Runs the statements of a script through the library, each transaction as one write.
struct ScriptLibrary: Sendable {
  let db: BoutiqueDB

  /// Runs a task and reports what came of each statement, by its place.
  func perform(_ statements: [String], _ report: (Int, ScriptAnswer) -> Void) async {
    var place = 0
    while place < statements.count {
      if statements[place] == "begin" {
        let end =
          statements[place...].firstIndex { ["commit", "rollback"].contains($0) }
          ?? statements.count
        let part = Array(statements[place + 1..<end])
        let undoes = end < statements.count && statements[end] == "rollback"
        let answers = await transact(part, undoes: undoes)
        for (offset, answer) in answers.enumerated() { report(place + 1 + offset, answer) }
        place = end + 1
      } else {
        report(place, await single(statements[place]))
        place += 1
      }
    }
  }

  private struct Undone: Error {
    let answers: [ScriptAnswer]
  }

  /// One transaction; an error of a statement is its answer, and undoes that statement alone, as in SQLite.
  private func transact(_ statements: [String], undoes: Bool) async -> [ScriptAnswer] {
    do {
      return try await db.write { connection in
        let answers = statements.map { Self.answer($0, connection) }
        if undoes { throw Undone(answers: answers) }
        // A bug of the harness's own, if it is built in.
        if UndoneWrite.isDue() { throw Undone(answers: answers) }
        return answers
      }
    } catch let undone as Undone {
      return undoes ? statements.map { _ in .values("") } : undone.answers
    } catch {
      return statements.map { _ in .error("\(error)") }
    }
  }

  private static func answer(
    _ sql: String, _ connection: BoutiqueConnection
  ) -> ScriptAnswer {
    if sql == "crash" { kill(getpid(), SIGKILL) }
    do {
      return .values(text(try connection.query(sql)))
    } catch {
      return .error("\(error)")
    }
  }

  private func single(_ sql: String) async -> ScriptAnswer {
    let word = sql.prefix { $0 != " " }.uppercased()
    do {
      switch word {
      case "CRASH":
        kill(getpid(), SIGKILL)
        return .values("")
      case "VACUUM":
        try await db.vacuum()
        return .values("")
      case "CHECKPOINT":
        _ = try await db.checkpoint(.truncate)
        return .values("")
      case "SELECT": return .values(try await db.read { Self.text(try $0.query(sql)) })
      default: return .values(try await db.write { Self.text(try $0.query(sql)) })
      }
    } catch {
      return .error("\(error)")
    }
  }

  static func text(_ rows: [Row]) -> String {
    rows.map { $0.values.map(Self.text).joined(separator: " ") }.joined(separator: " ")
  }

  private static func text(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text): text
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}

/// A client process that works through the library: this program in another role.
package enum ScriptClient {
  /// What stands in place of the worker's arguments.
  package static let option = "script-client"

  /// Opens the database and does tasks until its input ends; returns the exit status.
  static func run(database: String, setting: String) async -> Int32 {
    var configuration = BoutiqueConfiguration()
    configuration.label = "script client"
    configuration.writeLockTimeout = .seconds(60)
    switch setting {
    case "small log": configuration.writeAheadLogBound = 64 << 10
    case "precise": configuration.foreignCapture = .precise
    case "alone in a commit": configuration.groupCommitLimit = 1
    case "full": configuration.synchronous = .full
    default: break
    }
    do {
      let db = try await BoutiqueDB.open(path: database, configuration: configuration)
      let library = ScriptLibrary(db: db)
      for await line in StandardInput.lines() {
        let statements = try JSONDecoder().decode([String].self, from: Data(line.utf8))
        await library.perform(statements) { place, answer in say(place, answer) }
        print("{\"done\":true}")
        fflush(nil)
      }
      await db.close()
      return 0
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      return 3
    }
  }

  private static func say(_ place: Int, _ answer: ScriptAnswer) {
    struct Line: Encodable {
      var line: Int
      var values: String?
      var error: String?
    }
    var line = Line(line: place)
    switch answer {
    case .values(let text): line.values = text
    case .error(let text): line.error = text
    }
    if let data = try? JSONEncoder().encode(line) { print(String(decoding: data, as: UTF8.self)) }
  }
}
