import Foundation

/// A script for several client processes and the one that leads them.
///
/// One command a line; `#` begins a comment.
///
/// | command | what it does |
/// |---|---|
/// | `variants A B …` | the script is run once for each word; `$v` stands for it |
/// | `make SQL` | run by Python when the file is made, before the library sees it |
/// | `client N KIND SETTING` | what client N is: `library`, `python` or `shell`, with a pragma of its own |
/// | `open`, `close` | the leader opens the database, or closes it; it is open at the beginning |
/// | `do SQL` | the leader runs a statement through the library |
/// | `observe SQL` | the leader has a live query from now on |
/// | `tell N M …` to `end` | a task for these clients, who begin it at once; `$c` is the client's number |
/// | `wait N`, `wait all` | until the clients have ended their tasks |
/// | `leave N` | the client ends in order; it begins anew with its next task |
/// | `settle` | until each live query shows what a read finds |
/// | `check` | the file is whole, for the library and for Python |
///
/// In a task stand statements, `begin`, `commit`, `rollback`, `crash` (the client dies here, by SIGKILL) and
/// `repeat K` to `done`, in which `$i` counts from 1. After any statement can stand `=> VALUES`, all values of
/// its rows with spaces between, or `!> WORDS`, words of the error that it must get.
struct Script: Sendable {
  enum Step: Sendable, Equatable {
    case make(String)
    case client(Int, ScriptClientKind, setting: String?)
    case open
    case close
    case run(ScriptStatement)
    case observe(String)
    case tell([Int], [ScriptStatement])
    case wait(Int?)
    case leave(Int)
    case settle
    case check
  }

  var name: String
  var steps: [Step] = []

  /// Reads a script, for one of its variants.
  init(_ text: String, name: String, variant: String = "") throws {
    self.name = variant.isEmpty ? name : "\(name) \(variant)"
    var lines = Self.lines(of: text, variant)[...]
    while let line = lines.popFirst() {
      let (word, rest) = Self.split(line)
      switch word {
      case "variants": break
      case "make": steps.append(.make(rest))
      case "client":
        let (number, kindAndSetting) = Self.split(rest)
        let (kind, setting) = Self.split(kindAndSetting)
        guard let number = Int(number), let kind = ScriptClientKind(rawValue: kind) else {
          throw ScriptError(text: "\(name): no client: \(line)")
        }
        steps.append(.client(number, kind, setting: setting.isEmpty ? nil : setting))
      case "open": steps.append(.open)
      case "close": steps.append(.close)
      case "do": steps.append(.run(ScriptStatement(rest)))
      case "observe": steps.append(.observe(rest))
      case "tell":
        let task = lines.prefix { $0 != "end" }
        lines = lines.dropFirst(task.count + 1)
        let statements = try Self.expanded(Array(task))
        steps.append(.tell(rest.split(separator: " ").compactMap { Int($0) }, statements))
      case "wait": steps.append(.wait(Int(rest)))
      case "leave":
        guard let number = Int(rest) else { throw ScriptError(text: "\(name): no client: \(line)") }
        steps.append(.leave(number))
      case "settle": steps.append(.settle)
      case "check": steps.append(.check)
      default: throw ScriptError(text: "\(name): not understood: \(line)")
      }
    }
  }

  private static func lines(of text: String, _ variant: String) -> [String] {
    text.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces).replacing("$v", with: variant)
    }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
  }

  private static func split(_ line: String) -> (String, String) {
    let parts = line.split(separator: " ", maxSplits: 1)
    return (
      parts.first.map(String.init) ?? "",
      parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    )
  }

  private static func expanded(_ lines: [String]) throws -> [ScriptStatement] {
    var statements: [ScriptStatement] = []
    var rest = lines[...]
    while let line = rest.popFirst() {
      let (word, count) = split(line)
      guard word == "repeat" else {
        statements.append(ScriptStatement(line))
        continue
      }
      let body = rest.prefix { $0 != "done" }
      rest = rest.dropFirst(body.count + 1)
      guard let count = Int(count) else { throw ScriptError(text: "not understood: \(line)") }
      for turn in 1...max(1, count) {
        statements += body.map { ScriptStatement($0.replacing("$i", with: "\(turn)")) }
      }
    }
    return statements
  }
}

/// What a client is.
enum ScriptClientKind: String, Sendable {
  case library
  case python
  case shell
}

/// One line of a task.
struct ScriptStatement: Sendable, Equatable {
  enum Expectation: Sendable, Equatable {
    case anything
    case values(String)
    case error(String)
  }

  /// SQL, or one of `begin`, `commit`, `rollback`, `crash`.
  var sql: String
  var expectation = Expectation.anything

  init(_ line: String) {
    if let mark = line.range(of: "=> ") {
      sql = String(line[..<mark.lowerBound])
      expectation = .values(String(line[mark.upperBound...]))
    } else if let mark = line.range(of: "!> ") {
      sql = String(line[..<mark.lowerBound])
      expectation = .error(String(line[mark.upperBound...]))
    } else {
      sql = line
    }
    sql = sql.trimmingCharacters(in: .whitespaces)
  }

  /// What is wrong with an answer; nil when nothing is.
  func problem(with answer: ScriptAnswer) -> String? {
    switch (expectation, answer) {
    case (.anything, .values): nil
    case (.values(let wanted), .values(let values)):
      wanted == values ? nil : "\(sql) gave \(values.prefix(300)), not \(wanted)"
    case (.error(let words), .error(let text)):
      text.contains(words) ? nil : "\(sql) failed with \(text), not \(words)"
    case (.error(let words), .values(let values)):
      "\(sql) gave \(values.prefix(300)) and not the error \(words)"
    case (_, .error(let text)): "\(sql) failed: \(text)"
    }
  }
}

/// What came of a statement: the values of its rows with spaces between, or an error.
enum ScriptAnswer: Sendable, Equatable {
  case values(String)
  case error(String)
}

/// A script that cannot be run.
struct ScriptError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
