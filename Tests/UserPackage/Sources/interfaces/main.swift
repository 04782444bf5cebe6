import Blackbird
import Boutique
import Foundation

struct Post: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
}

struct Line: Codable, Sendable, Identifiable {
  let id: String
  var text: String
}

// In a function: of two that differ by `async` alone, Swift picks the other one at top level.
@MainActor
func run() async throws {
  let db = try Blackbird.Database.inMemoryDatabase()
  try await Post(id: 1, title: "one").write(to: db)
  let posts = try await Post.read(from: db, matching: \.$title == "one")
  let store = try await Store<Line>(storage: MemoryStorageEngine())
  try await store.insert(Line(id: "1", text: "two"))
  let secret = SecurelyStoredValue<String>(
    key: "word", storage: .path(FileManager.default.temporaryDirectory.path + "/none.db"))
  print(posts.count, store.items.count, secret.wrappedValue ?? "none")
  await db.close()
}
try await run()
