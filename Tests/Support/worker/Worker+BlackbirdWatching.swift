import Blackbird
import ProcessHarness
import Synchronization

/// The model of the commands about watching; `title` and `score` are told apart.
private struct Watched: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var score: Int
}

/// The same table with a cache.
private struct Remembered: BlackbirdModel {
  static let tableName = "Watched"
  static var cacheLimit: Int { 1000 }

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var score: Int
}

/// What keeps subscriptions alive, by the command that made them.
private let listeners = Mutex<[Int: [Blackbird.AnyCancellable]]>([:])

extension Worker {
  /// The commands whose names begin with `watched.`; the table is `Watched`, with the columns `id`, `title`
  /// and `score`.
  func performWatched(_ command: Command) async throws -> [String: JSONValue] {
    let database = try Self.blackbird()
    switch command.verb {
    case "watched.write":
      // number; title (t), score (0).
      try await Watched(
        id: command.integer("number"), title: command["title"]?.string ?? "t",
        score: command["score"]?.int ?? 0
      ).write(to: database)
    case "watched.sink":
      // publishers (1), key, columns (a list). Emits `change` for each of the first one's, and `ended`. In
      // effect when it is done.
      let publisher = publisher(command, database)
      let count = command["publishers"]?.int ?? 1
      let made = (0..<count).map { number in
        publisher.sink(
          receiveCompletion: { _ in command.emit("ended") },
          receiveValue: { command.emit("change", Self.describe($0, number)) })
      }
      listeners.withLock { $0[command.id] = made }
    case "watched.unsink":
      let of = try command.integer("of")
      listeners.withLock { $0[of] = nil }
    case "watched.live":
      // Emits `value` with the sum of the scores whenever it is another one.
      let sums = Watched.observe(in: database) { database in
        try await Watched.read(from: database).map(\.score).reduce(0, +)
      }
      for try await sum in sums { command.emit("value", ["sum": .integer(Int64(sum))]) }
      try Task.checkCancellation()
    case "watched.add":
      // number, times; adds one to a score, each in a transaction of its own, and says so when it is
      // committed.
      let number = try command.integer("number")
      for _ in 0..<(command["times"]?.int ?? 1) {
        let score = try await add(number, cached: command["cached"] == true, database)
        command.emit("ack", ["score": .integer(Int64(score))])
      }
    case "watched.read":
      // number; reads through the cache.
      let found = try await Remembered.read(from: database, id: command.integer("number"))
      let metrics = database.cachePerformanceMetricsByTableName()["Watched"]
      return [
        "score": .integer(Int64(found?.score ?? -1)),
        "hits": .integer(Int64(metrics?.hits ?? 0)),
      ]
    default: throw Misuse(description: "no such command: \(command.verb)")
    }
    return [:]
  }

  private func add(
    _ number: Int, cached: Bool, _ database: Blackbird.Database
  ) async throws -> Int {
    if cached {
      return try await Remembered.modify(in: database, primaryKey: number) { $0.score += 1 }.score
    }
    return try await Watched.modify(in: database, primaryKey: number) { $0.score += 1 }.score
  }

  private func publisher(
    _ command: Command, _ database: Blackbird.Database
  ) -> Blackbird.ModelChangePublisher<Watched> {
    let columns: [Watched.BlackbirdColumnKeyPath] = command.texts("columns").map {
      $0 == "title" ? \.$title : \.$score
    }
    return Watched.changePublisher(in: database, primaryKey: command["key"]?.int, columns: columns)
  }

  private static func describe(
    _ change: Blackbird.ModelChange<Watched>, _ publisher: Int
  ) -> [String: JSONValue] {
    let keys = change.changedPrimaryKeys.map { keys in
      JSONValue.list(
        keys.compactMap { $0.first?.intValue }.sorted().map { .integer(Int64($0)) })
    }
    let columns = change.columnNames.map { JSONValue.list($0.sorted().map { .text($0) }) }
    let origin: JSONValue =
      switch change.origin {
      case .thisProcess: "this"
      case .process(_, let label): .text(label)
      case .foreign: "foreign"
      case .several: "several"
      }
    return [
      "keys": keys ?? .null, "columns": columns ?? .null, "origin": origin,
      "publisher": .integer(Int64(publisher)),
    ]
  }
}
