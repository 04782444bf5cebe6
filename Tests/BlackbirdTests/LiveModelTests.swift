import Blackbird
import Foundation
import Observation
import TestDatabase
import Testing

/// What a view that shows one post is on Linux.
private struct PostView {
  @BlackbirdLiveModel var post: Post?
}

@MainActor @Observable private final class PostModel {
  @ObservationIgnored @BlackbirdLiveModel var post: Post?

  init(_ id: Int, _ db: Blackbird.Database) {
    _post = BlackbirdLiveModel(in: db, primaryKey: id)
  }
}

@Suite(.timeLimit(.minutes(1))) struct LiveModelTests {
  @Test func `a live model shows its instance at once, and then the row`() async throws {
    try await withDatabase { db, path in
      let post = Post(id: 1, title: "a", url: nil)
      try await post.write(to: db)
      try await db.query("UPDATE Post SET title = 'b'")
      let view = BlackbirdEnvironment.$database.withValue(db) { PostView(post: post.liveModel) }
      #expect(["a", "b"].contains(view.post?.title))
      try await view.$post.refresh()
      #expect(view.post?.title == "b")
      #expect(view.$post.didLoad)
      try shell(path, "UPDATE Post SET title = 'c'")
      try await eventually("the shell's title is shown") { view.post?.title == "c" }
      try await db.query("DELETE FROM Post")
      try await eventually("it is gone") { view.post == nil }
      try await Post(id: 1, title: "d", url: nil).write(to: db)
      try await eventually("it is back") { view.post?.title == "d" }
    }
  }

  @Test @MainActor func `an update by a changed copy writes what was set, and shows it`()
    async throws
  {
    try await withDatabase { db, path in
      try await Post(id: 1, title: "a", url: "u").write(to: db)
      let model = PostModel(1, db)
      try await model.$post.refresh()
      var copy = try #require(model.post)
      copy.title = "b"
      // Another column, by somebody else, in between.
      try shell(path, "UPDATE Post SET url = 'v'")
      try await model.$post.update(copy)
      #expect(model.post?.title == "b")
      #expect(model.post?.url == "v")
      try await model.$post.modify { $0.title += "!" }
      #expect(model.post?.title == "b!")
      try await model.$post.delete()
      #expect(model.post == nil)
      await #expect(throws: BlackbirdModelError.primaryKeyNotFound(value: [1])) {
        try await model.$post.modify { $0.title = "x" }
      }
    }
  }

  @Test func `an observer follows one row, and then another`() async throws {
    try await withDatabase { db, _ in
      for id in 1...2 { try await Post(id: id, title: "t\(id)", url: nil).write(to: db) }
      let observer = Post.Observer(in: db, primaryKey: 1, isolation: .anywhere)
      try await observer.refresh()
      #expect(observer.instance?.title == "t1")
      observer.observe(primaryKey: 2)
      try await eventually("it is the other") { observer.instance?.title == "t2" }
      try await db.query("UPDATE Post SET title = 'x'")
      try await eventually("it follows") { observer.instance?.title == "x" }
      observer.observe(primaryKey: nil)
      #expect(observer.instance == nil)
      #expect(db.changes.subscriberCount == 0)
      let instance = try #require(try await Post.read(from: db, id: 1))
      let other = instance.observer(in: db, columns: [\.$title], isolation: .anywhere)
      #expect(other.instance?.id == 1)
      try await db.query("UPDATE Post SET title = 'y' WHERE id = 1")
      try await eventually("it follows by column") { other.instance?.title == "y" }
    }
  }

  @Test func `a row of a key of several columns can be followed`() async throws {
    try await withDatabase { db, _ in
      try await Vote(post: 1, user: "x", count: 1).write(to: db)
      let live = Vote.liveModel(in: db, multicolumnPrimaryKey: [1, "x"], isolation: .anywhere)
      try await live.projectedValue.refresh()
      #expect(live.wrappedValue?.count == 1)
      try await db.query("UPDATE Vote SET count = 9")
      try await eventually("it follows") { live.wrappedValue?.count == 9 }
      let wrong = Vote.liveModel(in: db, multicolumnPrimaryKey: [1], isolation: .anywhere)
      await #expect(throws: BlackbirdModelError.self) { try await wrong.projectedValue.refresh() }
      #expect(wrong.projectedValue.error is BlackbirdModelError)
    }
  }

  @Test func `values over time begin with the present, and leave out what is equal`() async throws {
    try await withDatabase { db, _ in
      let post = Post(id: 1, title: "a", url: nil)
      var values = post.observe(in: db).makeAsyncIterator()
      let none = try #require(try await values.next(isolation: nil))
      #expect(none == nil)
      try await post.write(to: db)
      let first = try #require(try await values.next(isolation: nil))
      #expect(first?.title == "a")
      try await db.query("UPDATE Post SET title = 'b'")
      try await db.query("UPDATE Post SET title = 'a'")
      try await db.query("UPDATE Post SET title = 'c'")
      var titles: [String?] = []
      while titles.last != "c" {
        titles.append(try #require(try await values.next(isolation: nil))?.title)
      }
      #expect(Set(titles).isSubset(of: ["a", "b", "c"]))
      for (one, next) in zip(titles, titles.dropFirst()) { #expect(one != next) }
    }
  }

  @Test func `a thousand live models follow their rows`() async throws {
    try await withDatabase { db, _ in
      try await db.transaction { core in
        for id in 0..<1000 { try core.query("INSERT INTO Post VALUES (?, 'a', NULL)", id) }
      }
      let models = (0..<1000).map { Post.liveModel(in: db, primaryKey: $0, isolation: .anywhere) }
      for model in models { try await model.projectedValue.refresh() }
      try await db.query("UPDATE Post SET title = 'b' WHERE id % 2 = 0")
      for (id, model) in models.enumerated() {
        try await eventually("\(id) is as stored") {
          model.wrappedValue?.title == (id % 2 == 0 ? "b" : "a")
        }
      }
    }
  }
}
