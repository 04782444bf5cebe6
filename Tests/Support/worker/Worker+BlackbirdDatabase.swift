import Blackbird
import BoutiqueDB
import ProcessHarness
import Synchronization

/// The model of the commands about search.
private struct SearchedNote: BlackbirdModel {
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$name]
  static let fullTextSearchableColumns: FullTextIndex = [\.$text: .text]
  @BlackbirdColumn var name: String
  @BlackbirdColumn var text: String
}

/// The database of the commands whose names begin with `blackbird.`; apart from the worker's own.
private let opened = Mutex<Blackbird.Database?>(nil)

extension Worker {
  /// The database that `blackbird.open` has opened.
  static func blackbird() throws -> Blackbird.Database {
    guard let database = opened.withLock({ $0 }) else {
      throw Misuse(description: "no Blackbird database is open")
    }
    return database
  }

  func performDatabase(_ command: Command) async throws -> [String: JSONValue] {
    switch command.verb {
    case "blackbird.open":
      var configuration = BoutiqueConfiguration()
      configuration.label = command["label"]?.string ?? configuration.label
      if let wait = command.milliseconds("writeLockTimeout") {
        configuration.writeLockTimeout = wait
      }
      let database = try await Blackbird.Database.open(
        path: try command.text("path"), configuration: configuration)
      opened.withLock { $0 = database }
    case "blackbird.close":
      let database = try Self.blackbird()
      await database.close()
    case "blackbird.execute":
      try await Self.blackbird().execute(try command.text("sql"))
    case "blackbird.query":
      let rows = try await Self.blackbird().query(try command.text("sql"))
      return ["rows": .list(rows.map { .object($0.mapValues(JSONValue.init)) })]
    case "blackbird.rollBack":
      // Writes, undoes it, and stays open.
      let sql = try command.text("sql")
      let result = try await Self.blackbird().cancellableTransaction { core in
        try core.execute(sql)
        throw Blackbird.Error.cancelTransaction
      }
      if case .committed = result { throw Misuse(description: "it was committed") }
    case "blackbird.count":
      // Adds to a counter, one transaction for each, from many tasks.
      let times = try command.integer("times")
      let database = try Self.blackbird()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<times {
          group.addTask {
            try await database.transaction { core in
              let n = try core.query("SELECT n FROM counter").first?["n"]?.intValue ?? 0
              try core.query("UPDATE counter SET n = ?", n + 1)
            }
          }
        }
        try await group.waitForAll()
      }
    case "blackbird.note":
      // Writes notes, `times` of them, each in a transaction of its own.
      let (name, text) = (try command.text("name"), try command.text("text"))
      for number in 0..<(command["times"]?.int ?? 1) {
        let suffix = number == 0 ? "" : " \(number)"
        try await SearchedNote(name: name + suffix, text: text).write(to: Self.blackbird())
      }
    case "blackbird.search":
      let found = try await SearchedNote.fullTextSearch(
        from: Self.blackbird(), matching: .match(try command.text("text")))
      return [
        "names": .list(found.compactMap { $0.id.first?.stringValue }.sorted().map { .text($0) })
      ]
    case "blackbird.index":
      return [
        "done": .integer(Int64(try await SearchedNote.resolveSchema(in: Self.blackbird()).rawValue))
      ]
    default: throw Misuse(description: "no such command: \(command.verb)")
    }
    return [:]
  }
}

extension JSONValue {
  fileprivate init(_ value: Blackbird.Value) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .double(let double): self = .number(double)
    case .text(let text): self = .text(text)
    case .data(let data): self = .integer(Int64(data.count))
    }
  }
}
