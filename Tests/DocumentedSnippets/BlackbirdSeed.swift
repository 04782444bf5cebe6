import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// The snippets of Blackbird's introduction, as they stand there; SwiftUI's views are views of a terminal.
@Suite struct BlackbirdSeed {
  struct Post: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var title: String
    @BlackbirdColumn var url: URL?
    @BlackbirdColumn var image: Data?
  }

  private func withPosts(
    _ body: (_ db: Blackbird.Database, _ path: String) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    let path = directory.file("db.sqlite")
    let db = try Blackbird.Database(path: path)
    try await Post(
      id: 1, title: "What I had for breakfast", url: URL(string: "https://example.org/1"),
      image: Data([1, 2])
    ).write(to: db)
    try await Post(id: 2, title: "Sports", url: nil, image: nil).write(to: db)
    try await Post(id: 3, title: "News", url: URL(string: "https://example.org/3"), image: nil)
      .write(to: db)
    try await body(db, path)
    await db.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }

  // MARK: Queries

  @Test func `queries by key, by condition and for columns`() async throws {
    try await withPosts { db, _ in
      var found: [(Int, Data?)] = []

      // Fetch by primary key
      let post = try await Post.read(from: db, id: 2)

      // Or with a WHERE condition, using compiler-checked key-paths:
      let posts = try await Post.read(from: db, matching: \.$title == "Sports")

      // Select custom columns, with row dictionaries typed by key-path:
      for row in try await Post.query(in: db, columns: [\.$id, \.$image], matching: \.$url != nil) {
        let postID = row[\.$id]  // returns Int
        let imageData = row[\.$image]  // returns Data?
        found.append((postID, imageData))
      }

      #expect(post?.title == "Sports")
      #expect(posts.map(\.id) == [2])
      #expect(found.map(\.0) == [1, 3])
      #expect(found.map(\.1) == [Data([1, 2]), nil])
    }
  }

  @Test func `raw SQL with the table's name left to the library`() async throws {
    try await withPosts { db, _ in
      try await Post.query(in: db, "UPDATE $T SET title = ? WHERE id = ?", "Sports!", 2)
      let posts = try await Post.read(from: db, sqlWhere: "title LIKE ? ORDER BY id", "Sports%")
      let rows = try await Post.query(in: db, "SELECT MAX(id) AS max FROM $T WHERE url IS NOT NULL")
      #expect(posts.map(\.title) == ["Sports!"])
      #expect(rows.first?["max"]?.intValue == 3)
    }
  }

  // MARK: Changes

  @Test(.timeLimit(.minutes(1)))
  func `changes of the table, of columns and of one row reach their listeners`() async throws {
    try await withPosts { db, _ in
      let (lines, line) = AsyncStream.makeStream(of: String.self)
      @Sendable func print(_ text: String) { line.yield(text) }

      // Monitor all changes in the table
      let listener = Post.changePublisher(in: db).sink { change in
        if change.hasPrimaryKeyChanged(7) {
          print("Post 7 has changed")
        }

        if change.hasColumnChanged(\.$title) {
          print("A title has changed")
        }
      }

      // Or monitor a single column by key-path
      let titles = Post.changePublisher(in: db, columns: [\.$title]).sink { _ in
        print("A post's title changed")
      }

      // Or listen for changes for a specific primary key
      let third = Post.changePublisher(in: db, primaryKey: 3, columns: [\.$title]).sink { _ in
        print("Post 3's title changed")
      }

      try await Post(id: 7, title: "Seven", url: nil, image: nil).write(to: db)
      var seen: Set<String> = []
      let all: Set = ["Post 7 has changed", "A title has changed", "A post's title changed"]
      var iterator = lines.makeAsyncIterator()
      while !all.isSubset(of: seen), let text = await iterator.next(isolation: #isolation) {
        seen.insert(text)
      }
      #expect(seen == all)

      try await Post.update(in: db, set: [\.$title: "Old news"], matching: \.$id == 3)
      while !seen.contains("Post 3's title changed"),
        let text = await iterator.next(isolation: #isolation)
      { seen.insert(text) }
      #expect(seen.contains("Post 3's title changed"))
      for token in [listener, titles, third] { token.cancel() }
    }
  }

  // MARK: Views

  @MainActor struct PostListView {
    // Async-loading, auto-updating array of matching instances
    @BlackbirdLiveModels({ try await Post.read(from: $0, orderBy: .ascending(\.$id)) }) var posts

    // Async-loading, auto-updating rows from a custom query
    @BlackbirdLiveQuery(
      tableName: "Post", { try await $0.query("SELECT MAX(id) AS max FROM Post") }) var maxID

    var body: [String] {
      if posts.didLoad {
        return posts.results.map { post in PostView(post: post.liveModel).body }
          + [maxID.didLoad ? "\(maxID.results.first?["max"]?.intValue ?? 0) posts" : "Loading…"]
      } else {
        return ["…"]
      }
    }
  }

  @MainActor struct PostView {
    // Auto-updating instance
    @BlackbirdLiveModel var post: Post?

    var body: String {
      if let post { post.title } else { "gone" }
    }
  }

  @MainActor @Test(.timeLimit(.minutes(1)))
  func `views show the database and follow it`() async throws {
    let directory = try TestDirectory()
    let database = try Blackbird.Database(path: directory.file("db.sqlite"))
    try await Post(id: 1, title: "One", url: nil, image: nil).write(to: database)
    let view = BlackbirdEnvironment.$database.withValue(database) { PostListView() }
    try await BlackbirdEnvironment.$database.withValue(database) {
      #expect(view.body == ["…"])
      try await view.$posts.refresh()
      try await view.$maxID.refresh()
      #expect(view.body == ["One", "1 posts"])

      let first = try #require(view.posts.results.first)
      let detail = PostView(post: first.liveModel)
      try await Post.update(in: database, set: [\.$title: "Uno"], matching: \.$id == 1)
      try await Post(id: 5, title: "Five", url: nil, image: nil).write(to: database)
      try await view.$posts.refresh()
      try await view.$maxID.refresh()
      #expect(view.body == ["Uno", "Five", "5 posts"])
      try await detail.$post.refresh()
      #expect(detail.body == "Uno")
      try await first.delete(from: database)
      try await detail.$post.refresh()
      #expect(detail.body == "gone")
    }
    await database.close()
  }

  // MARK: The database by itself

  @Test func `a database is of use without models`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("db.sqlite")
    var ids: [Int?] = []

    let db = try Blackbird.Database(path: path)
    try await db.execute(
      """
      CREATE TABLE posts (id INTEGER PRIMARY KEY, state INTEGER, comments TEXT);
      INSERT INTO posts VALUES (1, 1, 'Nice'), (2, 0, 'Hm');
      """)

    // SELECT with parameterized queries
    for row in try await db.query("SELECT id FROM posts WHERE state = ?", 1) {
      let id = row["id"]?.intValue
      ids.append(id)
    }

    // Run direct queries
    try await db.execute("UPDATE posts SET comments = NULL")

    #expect(ids == [1])
    let rows = try await db.query("SELECT count(comments) AS n FROM posts")
    #expect(rows == [["n": 0]])
    await db.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `a transaction's queries are synchronous`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await db.execute("CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT)")

    // Transactions with synchronous queries
    try await db.transaction { core in
      try core.query("INSERT INTO posts VALUES (?, ?)", 16, "Sports!")
      try core.query("INSERT INTO posts VALUES (?, ?)", 17, "Dewey Defeats Truman")
    }

    let rows = try await db.query("SELECT title FROM posts ORDER BY id")
    #expect(rows.map { $0["title"] } == ["Sports!", "Dewey Defeats Truman"])
    await db.close()
  }
}
