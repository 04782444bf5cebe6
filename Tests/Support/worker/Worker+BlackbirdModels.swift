import Blackbird
import ProcessHarness

/// A post as each version of a program has it.
private protocol Post: BlackbirdModel {
  static func post(_ id: Int, _ title: String) -> Self
  var title: String { get }
}

private struct OldPost: Post {
  static let tableName = "Post"
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String

  static func post(_ id: Int, _ title: String) -> OldPost { OldPost(id: id, title: title) }
}

/// Has two columns more, and an index.
private struct NewPost: Post {
  static let tableName = "Post"
  static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$title]]
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var subtitle: String
  @BlackbirdColumn var count: Int

  static func post(_ id: Int, _ title: String) -> NewPost {
    NewPost(id: id, title: title, subtitle: "by the new one", count: 0)
  }
}

/// Is kept by its title, and its number is a text.
private struct RetypedPost: Post {
  static let tableName = "Post"
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$title]
  @BlackbirdColumn var id: String
  @BlackbirdColumn var title: String

  static func post(_ id: Int, _ title: String) -> RetypedPost {
    RetypedPost(id: String(id), title: title)
  }
}

extension Worker {
  /// The commands whose names begin with `model.`; `version` is `old`, `new` or `retyped`.
  func performModels(_ command: Command) async throws -> [String: JSONValue] {
    switch try command.text("version") {
    case "old": return try await perform(command, OldPost.self)
    case "new": return try await perform(command, NewPost.self)
    case "retyped": return try await perform(command, RetypedPost.self)
    case let version: throw Misuse(description: "no such version: \(version)")
    }
  }

  private func perform<Model: Post>(
    _ command: Command, _ type: Model.Type
  ) async throws -> [String: JSONValue] {
    let database = try Self.blackbird()
    switch command.verb {
    case "model.resolve":
      let done = try await Model.resolveSchema(in: database)
      return ["done": .integer(Int64(done.rawValue))]
    case "model.write":
      try await Model.post(try command.integer("number"), try command.text("title")).write(
        to: database)
    case "model.append":
      // Writes one after the other and acknowledges each when it is committed.
      let first = try command.integer("from")
      for number in first..<(first + (try command.integer("count"))) {
        try await Model.post(number, "title \(number)").write(to: database)
        command.emit("ack", ["number": .integer(Int64(number))])
      }
    case "model.titles":
      let all = try await Model.read(from: database)
      return ["titles": .list(all.map(\.title).sorted().map { .text($0) })]
    case "model.count":
      return ["count": .integer(Int64(try await Model.count(in: database)))]
    case "model.add":
      // Adds one to a post's count, many times, from many tasks.
      let times = try command.integer("times")
      let number = try command.integer("number")
      try await withThrowingTaskGroup { group in
        for _ in 0..<times {
          group.addTask {
            try await NewPost.modify(in: database, primaryKey: number) { $0.count += 1 }
          }
        }
        for try await _ in group {}
      }
    case "model.counted":
      let post = try await NewPost.read(from: database, id: try command.integer("number"))
      return ["count": .integer(Int64(post?.count ?? -1))]
    default: throw Misuse(description: "no such command: \(command.verb)")
    }
    return [:]
  }
}
