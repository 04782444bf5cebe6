import Blackbird
import Foundation
import Observation
import TestDatabase
import Testing

// BEGIN model

struct Post: BlackbirdModel {
  static let uniqueIndexes: [[BlackbirdColumnKeyPath]] = [[\.$slug]]
  static let fullTextSearchableColumns: FullTextIndex = [
    \.$title: .text(weight: 3), \.$text: .text, \.$state: .filterOnly,
  ]

  enum State: Int, BlackbirdIntegerEnum { case draft, published }

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var slug: String
  @BlackbirdColumn var title: String
  @BlackbirdColumn var text: String
  @BlackbirdColumn var state: State
  @BlackbirdColumn var views: Int
}
// END model

// BEGIN allowing loss
struct Draft: BlackbirdModel {
  static let droppedColumnDataResolution: BlackbirdDroppedColumnDataResolution = .deleteData
  static let invalidRowDataMigrationResolution: BlackbirdInvalidRowDataMigrationResolution =
    .deleteData

  enum CodingKeys: String, BlackbirdCodingKey {
    case id
    case title = "headline"  // and no `isOpen`
  }

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String  // the column `title`
  var isOpen = true  // so it is after reading, too
}
// END allowing loss

/// The code of docs/blackbird.md.
@Suite struct BlackbirdPage {
  private func post(_ id: Int, _ title: String, _ text: String = "") -> Post {
    Post(id: id, slug: "post-\(id)", title: title, text: text, state: .published, views: 0)
  }

  private func withFile(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (_ db: Blackbird.Database, _ path: String) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    let db = try Blackbird.Database(path: path)
    try await body(db, path)
    await db.close()
    try await TestDatabaseCheck.isWhole(path: path)
  }

  @Test func `the first steps`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    var printed: [String] = []
    func print(_ text: String) { printed.append(text) }
    // BEGIN first steps
    let db = try Blackbird.Database(path: path)  // any number of processes may do this

    let first = Post(id: 1, slug: "hi", title: "Hi", text: "Hello", state: .draft, views: 0)
    try await first.write(to: db)  // makes the table

    let drafts = try await Post.read(from: db, matching: \.$state == .draft)
    for post in drafts { print(post.title) }

    await db.close()
    // END first steps
    #expect(printed == ["Hi"])
  }

  @Test func `a database is opened with a label and a time-out`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    // BEGIN opening
    var configuration = BoutiqueConfiguration()
    configuration.label = "importer"  // what other processes' errors call this one
    configuration.writeLockTimeout = .seconds(5)  // how long a write waits for its turn
    let db = try await Blackbird.Database.open(path: path, configuration: configuration)
    // END opening
    await db.close()
  }

  @Test func `a transaction commits or is cancelled`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      try await post(2, "Two").write(to: db)
      // BEGIN transaction
      let result = try await db.cancellableTransaction { core in
        var post = try Post.readIsolated(from: db, core: core, id: 1)
        post?.title = "Changed"
        try post?.writeIsolated(to: db, core: core)
        try core.query("UPDATE Post SET views = views + 1 WHERE id <> ?", 1)
        if try Post.countIsolated(in: db, core: core) > 1000 {
          throw Blackbird.Error.cancelTransaction  // undoes all of it; no error for the caller
        }
        return post
      }
      guard case .committed(let post) = result else { return }
      // END transaction
      #expect(post?.title == "Changed")
      let rows = try await db.query("SELECT views FROM Post ORDER BY id")
      #expect(rows == [["views": 0], ["views": 1]])
    }
  }

  @Test func `modify and update`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      // BEGIN modify
      try await Post.modify(in: db, primaryKey: 1) { post in post.views += 1 }
      try await Post.update(in: db, set: [\.$views: \.$views + 1], matching: \.$state == .published)
      try await Post.update(
        in: db,
        set: [\.$views: \.$views + 5, \.$title: "Much read", \.$state: .value(Post.State.draft)],
        matching: \.$views > 1000)
      // END modify
      let post = try await Post.read(from: db, id: 1)
      #expect(post?.views == 2)
      #expect(post?.title == "One")
    }
  }

  @Test func `some columns`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      try await Post.update(in: db, set: [\.$views: 6], matching: .all)
      var printed: [String] = []
      func print(_ text: String) { printed.append(text) }
      // BEGIN columns
      for row in try await Post.query(in: db, columns: [\.$id, \.$title], matching: \.$views > 5) {
        print("\(row[\.$id]): \(try row.value(of: \.$title))")
      }
      // END columns
      #expect(printed == ["1: One"])
      let rows = try await Post.query(in: db, columns: [\.$id], matching: .all)
      #expect(throws: BlackbirdModelError.self) { try rows.first?.value(of: \.$title) }
    }
  }

  @Test func `a model that may lose values, and has what is no column`() async throws {
    try await withFile { db, _ in
      try await Draft(id: 1, title: "One", isOpen: false).write(to: db)
      #expect(try await Draft.read(from: db, id: 1)?.isOpen == true)
      let columns = try await db.query("SELECT name FROM pragma_table_info('Draft')")
      #expect(columns == [["name": "id"], ["name": "title"]])
    }
  }

  @MainActor final class Listening {
    var lastChange: Blackbird.ModelChange<Post>?
    var listener: Blackbird.AnyCancellable?

    func begin(_ db: Blackbird.Database) {
      // BEGIN sink
      listener = Post.changePublisher(in: db).sink { @MainActor [weak self] change in
        self?.lastChange = change
      }
      // END sink
    }
  }

  @MainActor @Test(.timeLimit(.minutes(1))) func `a closure on the main actor`() async throws {
    try await withFile { db, _ in
      let listening = Listening()
      listening.begin(db)
      try await post(1, "One").write(to: db)
      while listening.lastChange == nil { await Task.yield() }
      #expect(listening.lastChange?.origin.isOfThisProcess == true)
      listening.listener = nil
    }
  }

  @Test func `a unique violation`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      let post = Post(id: 2, slug: "post-1", title: "Two", text: "", state: .draft, views: 0)
      var printed: [String] = []
      func print(_ text: String) { printed.append(text) }
      // BEGIN errors
      do {
        try await post.write(to: db)
      } catch Blackbird.Database.Error.uniqueConstraintFailed(let error) {
        print("taken: \(error.uniqueColumns.joined(separator: ", "))")  // taken: slug
      } catch Blackbird.Database.Error.queryExecutionError(_, let error) where error.code == 5 {
        print("\(error.lockHolder?.label ?? "somebody") is writing for long")
      }
      // END errors
      #expect(printed == ["taken: slug"])
    }
  }

  static func follow(_ db: Blackbird.Database, print: (String) -> Void) async throws {
    // BEGIN following
    for try await change in Post.changePublisher(in: db, columns: [\.$title]) {
      print("\(change.origin): \(change.changedPrimaryKeys?.count ?? 0) posts")
    }
    // END following
  }

  @Test(.timeLimit(.minutes(1))) func `changes as a sequence`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      let (lines, line) = AsyncStream.makeStream(of: String.self)
      let following = Task { try await Self.follow(db) { line.yield($0) } }
      // The loop begins when its task gets to run; until then nothing arrives.
      let writing = Task {
        var number = 0
        while !Task.isCancelled {
          number += 1
          try await Post.update(in: db, set: [\.$title: "\(number)"], matching: .all)
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      var seen: String?
      for await text in lines {
        seen = text
        break
      }
      writing.cancel()
      following.cancel()
      _ = await writing.result
      _ = await following.result
      #expect(seen == "thisProcess: 1 posts")
    }
  }

  // BEGIN live
  @MainActor @Observable final class PostList {
    @ObservationIgnored @BlackbirdLiveModels var posts: Blackbird.LiveResults<Post>

    init(_ db: Blackbird.Database) {
      _posts = BlackbirdLiveModels(in: db) { db in
        try await Post.read(from: db, matching: \.$state == .published, orderBy: .ascending(\.$id))
      }
    }

    var lines: [String] { posts.didLoad ? posts.results.map(\.title) : ["…"] }
  }
  // END live

  @MainActor @Test func `a live list`() async throws {
    try await withFile { db, _ in
      try await post(1, "One").write(to: db)
      let list = PostList(db)
      try await list.$posts.refresh()
      #expect(list.lines == ["One"])
    }
  }

  @MainActor final class Wrappers {
    @BlackbirdLiveModels var posts: Blackbird.LiveResults<Post>
    @BlackbirdLiveQuery var count: Blackbird.LiveResults<Blackbird.Row>
    @BlackbirdLiveModel var first: Post?
    @BlackbirdLiveModel var shown: Post?

    init(_ db: Blackbird.Database, _ post: Post) {
      // BEGIN live wrappers
      _posts = BlackbirdLiveModels(in: db, tables: ["Author"]) { db in
        try await Post.read(from: db)
      }
      _count = BlackbirdLiveQuery(in: db, tableName: "Post") { db in
        try await db.query("SELECT count(*) AS n FROM Post")
      }
      _first = BlackbirdLiveModel(in: db, primaryKey: 1)
      _shown = BlackbirdLiveModel(post, in: db)
      // END live wrappers
    }
  }

  @MainActor @Test func `the live wrappers`() async throws {
    try await withFile { db, _ in
      let post = post(1, "One")
      try await post.write(to: db)
      let wrappers = Wrappers(db, post)
      try await wrappers.$posts.refresh()
      try await wrappers.$count.refresh()
      try await wrappers.$first.refresh()
      try await wrappers.$shown.refresh()
      #expect(wrappers.posts.results == [post])
      #expect(wrappers.count.results == [["n": 1]])
      #expect(wrappers.first == post)
      #expect(wrappers.shown == post)
      await db.close()
      #expect(wrappers.posts.results == [post])
    }
  }

  @Test func `a search takes what was typed`() async throws {
    try await withFile { db, _ in
      try await post(1, "Storms", "Much wind tomorrow").write(to: db)
      try await post(2, "Sports", "The wind decides").write(to: db)
      let typed = "wind \" tom"
      var printed: [String] = []
      func print(_ text: String) { printed.append(text) }
      // BEGIN search
      let results = try await Post.fullTextSearch(
        from: db, matching: .match(typed) && \.$state == .published, limit: 20)
      for result in results {
        print(result.snippet(\.$text) ?? result.highlighted(\.$title) ?? "")
      }
      // END search
      #expect(printed == ["Much <b>wind</b> <b>tomorrow</b>"])
    }
  }

  @Test func `the page's code is the one above`() throws {
    let page = try DocumentedText.blocks(of: "docs/blackbird.md")
    let tested = try DocumentedText.regions(of: #filePath)
    #expect(Set(page.named.keys) == Set(tested.keys))
    #expect(page.nameless == [])
    for (name, code) in tested {
      #expect(
        DocumentedText.lines(page.named[name] ?? "") == DocumentedText.lines(code), "\(name)")
    }
  }
}
