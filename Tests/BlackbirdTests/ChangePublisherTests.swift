import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChangePublisherTests {
  @Test func `a write right after sink arrives with its key and its columns`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Blackbird.ModelChange<Post>>()
      let listener = Post.changePublisher(in: db).sink { received.add($0) }
      try await db.query("INSERT INTO Post VALUES (7, 'a', NULL)")
      try await db.query("UPDATE Post SET title = 'b' WHERE id = 7")
      let changes = await received.wait(for: 2)
      #expect(changes[0].changedPrimaryKeys == [[7]])
      #expect(changes[0].columnNames == nil)
      #expect(changes[0].hasColumnChanged(\.$url))
      #expect(changes[1].hasPrimaryKeyChanged(7))
      #expect(!changes[1].hasPrimaryKeyChanged(8))
      #expect(changes[1].columnNames == ["title"])
      #expect(changes[1].hasColumnChanged(\.$title))
      #expect(!changes[1].hasColumnChanged(\.$url))
      #expect(!changes[1].hasColumnChanged("url"))
      #expect(changes[1].type == Post.self)
      #expect(changes[1].origin == .thisProcess)
      listener.cancel()
    }
  }

  @Test func `what was committed before sink is not told`() async throws {
    try await withDatabase { db, _ in
      let first = Post.changePublisher(in: db).sink { _ in }
      for round in 0..<50 {
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", round * 2)
        let received = Received<Blackbird.ModelChange<Post>>()
        let listener = Post.changePublisher(in: db).sink { received.add($0) }
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", round * 2 + 1)
        let changes = await received.wait(for: 1)
        #expect(changes.map(\.changedPrimaryKeys) == [[[.integer(Int64(round * 2 + 1))]]])
        listener.cancel()
      }
      first.cancel()
    }
  }

  @Test func `each first subscription begins where it came`() async throws {
    try await withDatabase { db, _ in
      for round in 0..<50 {
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", round * 2)
        let received = Received<Blackbird.ModelChange<Post>>()
        let listener = Post.changePublisher(in: db).sink { received.add($0) }
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", round * 2 + 1)
        let changes = await received.wait(for: 1)
        #expect(changes.map(\.changedPrimaryKeys) == [[[.integer(Int64(round * 2 + 1))]]])
        listener.cancel()
      }
    }
  }

  @Test func `one transaction is one change, and one that was undone is none`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "Post").sink { received.add($0) }
      try await db.transaction { core in
        try core.query("INSERT INTO Post VALUES (1, 'a', NULL)")
        try core.query("INSERT INTO Post VALUES (2, 'a', NULL)")
        try core.query("INSERT INTO Vote VALUES (1, 'x', 1)")
      }
      struct Undone: Error {}
      await #expect(throws: Undone.self) {
        try await db.transaction { core in
          try core.query("INSERT INTO Post VALUES (3, 'a', NULL)")
          throw Undone()
        }
      }
      let undone = try await db.cancellableTransaction { core in
        try core.query("UPDATE Post SET title = 'no'")
        throw Blackbird.Error.cancelTransaction
      }
      if case .committed = undone { Issue.record("it was committed") }
      try await db.transaction { core in
        try core.query("UPDATE Post SET title = 'b' WHERE id = 1")
        try core.query("UPDATE Post SET url = 'u' WHERE id = 2")
      }
      let changes = await received.wait(for: 2)
      #expect(changes.count == 2)
      #expect(changes[0].primaryKeys == [[1], [2]])
      #expect(changes[1].primaryKeys == [[1], [2]])
      #expect(changes[1].columnNames == ["title", "url"])
      listener.cancel()
    }
  }

  @Test func `a publisher of columns, of a row, of a row's columns hears of those alone`()
    async throws
  {
    try await withDatabase { db, _ in
      let titles = Received<Blackbird.ModelChange<Post>>()
      let row = Received<Blackbird.ModelChange<Post>>()
      let rowTitle = Received<Blackbird.ModelChange<Post>>()
      let notURL = Received<Blackbird.ModelChange<Post>>()
      let fence = Received<Blackbird.ModelChange<Post>>()
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL), (2, 'a', NULL)")
      let listeners = [
        Post.changePublisher(in: db, columns: [\.$title]).sink { titles.add($0) },
        Post.changePublisher(in: db, primaryKey: 2).sink { row.add($0) },
        Post.changePublisher(in: db, primaryKey: 2, columns: [\.$title]).sink { rowTitle.add($0) },
        Post.changePublisher(in: db, primaryKey: 2, ignoredColumns: [\.$url]).sink {
          notURL.add($0)
        },
        Post.changePublisher(in: db).sink { fence.add($0) },
      ]
      try await db.query("UPDATE Post SET url = 'u' WHERE id = 1")
      try await db.query("UPDATE Post SET title = 't1' WHERE id = 1")
      try await db.query("UPDATE Post SET url = 'u' WHERE id = 2")
      // One transaction: the title of one row, another column of the other.
      try await db.transaction { core in
        try core.query("UPDATE Post SET title = 't2' WHERE id = 1")
        try core.query("UPDATE Post SET url = 'v' WHERE id = 2")
      }
      try await db.query("UPDATE Post SET title = 't3' WHERE id = 2")
      try await db.query("DELETE FROM Post WHERE id = 2")
      await fence.wait(for: 6)
      let titleChanges = await titles.wait(for: 4)
      #expect(titleChanges.map(\.changedPrimaryKeys) == [[[1]], [[1]], [[2]], [[2]]])
      let rowChanges = await row.wait(for: 4)
      #expect(rowChanges.map(\.columnNames) == [["url"], ["url"], ["title"], nil])
      let rowTitleChanges = await rowTitle.wait(for: 2)
      #expect(rowTitleChanges.map(\.columnNames) == [["title"], nil])
      let notURLChanges = await notURL.wait(for: 2)
      #expect(notURLChanges.map(\.columnNames) == [["title"], nil])
      for listener in listeners { listener.cancel() }
    }
  }

  @Test func `a key of several columns is told apart`() async throws {
    try await withDatabase { db, _ in
      try await db.query("INSERT INTO Vote VALUES (1, 'x', 1), (1, 'y', 1)")
      let all = Received<Blackbird.ModelChange<Vote>>()
      let one = Received<Blackbird.ModelChange<Vote>>()
      let same = Received<Blackbird.ModelChange<Vote>>()
      let listeners = [
        Vote.changePublisher(in: db).sink { all.add($0) },
        Vote.changePublisher(in: db, multicolumnPrimaryKey: [1, "y"], columns: [\.$count]).sink {
          one.add($0)
        },
        Vote.changePublisher(
          in: db, primaryKey: nil, columns: [], multicolumnPrimaryKey: [1, "y"]
        ).sink { same.add($0) },
      ]
      try await db.query("UPDATE Vote SET count = 2 WHERE user = 'x'")
      try await db.query("UPDATE Vote SET count = 2 WHERE user = 'y'")
      let changes = await all.wait(for: 2)
      #expect(changes[0].changedPrimaryKeys == [[1, "x"]])
      #expect(changes[1].hasMulticolumnPrimaryKeyChanged([1, "y"]))
      #expect(!changes[1].hasMulticolumnPrimaryKeyChanged([1, "x"]))
      let ones = await one.wait(for: 1)
      #expect(ones.map(\.columnNames) == [["count"]])
      let sames = await same.wait(for: 1)
      #expect(sames.map(\.changedPrimaryKeys) == [[[1, "y"]]])
      for listener in listeners { listener.cancel() }
    }
  }

  @Test func `where rows are told apart by another key any row may have changed`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "other").sink { received.add($0) }
      try await db.query("INSERT INTO Other VALUES (1, 'n', NULL)")
      try await db.query("UPDATE Other SET b = 'x'")
      let changes = await received.wait(for: 2)
      #expect(changes[1].primaryKeys == nil)
      #expect(changes[1].hasPrimaryKeyChanged("n"))
      #expect(changes[1].columnNames == ["b"])
      listener.cancel()
    }
  }

  @Test func `a column keeps its name when the table is altered`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Blackbird.Change>()
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      let listener = db.changePublisher(for: "Post").sink { received.add($0) }
      try await db.query("UPDATE Post SET url = 'u'")
      try await db.execute("ALTER TABLE Post DROP COLUMN title; ALTER TABLE Post ADD COLUMN n")
      await received.wait(for: 2)
      try await db.query("UPDATE Post SET url = 'v'")
      try await db.query("UPDATE Post SET n = 1")
      let changes = await received.wait(for: 4)
      #expect(changes[0].columnNames == ["url"])
      #expect(changes[1].columnNames == nil)
      #expect(changes[2].columnNames == ["url"])
      #expect(changes[3].columnNames == ["n"])
      listener.cancel()
    }
  }

  @Test func `columns are never misnamed while the schema changes under a slow feed`() async throws
  {
    try await withDatabase { db, _ in
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      let received = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "Post").sink { received.add($0) }
      // No time in between: the feed reads these when the table looks as after the last.
      try await db.query("UPDATE Post SET url = 'u1'")
      try await db.execute("ALTER TABLE Post DROP COLUMN title")
      try await db.query("UPDATE Post SET url = 'u2'")
      try await db.execute("ALTER TABLE Post RENAME COLUMN url TO link")
      try await db.query("UPDATE Post SET link = 'u3'")
      let changes = await received.wait(for: 5)
      let last = try #require(changes.last)
      #expect(changes[0].hasColumnChanged("url"))
      #expect(!changes[0].hasColumnChanged("title"))
      #expect(changes[2].hasColumnChanged("url"))
      #expect(last.hasColumnChanged("link"))
      listener.cancel()
    }
  }

  @Test func `a table that is made empty is no change of rows, one that is dropped is`()
    async throws
  {
    try await withDatabase(schema: "") { db, _ in
      let received = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "Post").sink { received.add($0) }
      try await db.execute(changeSchema)
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      let first = await received.wait(for: 1)
      #expect(first.map(\.primaryKeys) == [[[1]]])
      try await db.execute("DROP TABLE Post")
      try await db.execute("CREATE TABLE Post AS SELECT 1 AS id")
      let changes = await received.wait(for: 3)
      #expect(changes[1].primaryKeys == nil)
      #expect(changes[2].primaryKeys == nil)
      listener.cancel()
    }
  }

  @Test func `a commit of the shell is a change of everything, in its place`() async throws {
    try await withDatabase { db, path in
      let received = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "Post").sink { received.add($0) }
      try shell(path, "INSERT INTO Post VALUES (1, 'a', NULL)")
      let changes = await received.wait(for: 1)
      #expect(changes[0].primaryKeys == nil)
      #expect(changes[0].columnNames == nil)
      #expect(changes[0].origin == .foreign)
      try await db.query("UPDATE Post SET title = 'b'")
      let more = await received.wait(for: 2)
      #expect(more[1].primaryKeys == [[1]])
      #expect(more[1].columnNames == ["title"])
      listener.cancel()
    }
  }

  @Test func `in memory it is the same`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await db.execute(changeSchema)
    let received = Received<Blackbird.ModelChange<Post>>()
    let listener = Post.changePublisher(in: db).sink { received.add($0) }
    try await db.query("INSERT INTO Post VALUES (7, 'a', NULL)")
    let changes = await received.wait(for: 1)
    #expect(changes.map(\.changedPrimaryKeys) == [[[7]]])
    listener.cancel()
    await db.close()
  }

  @Test func `an iterator is a subscription from when it is made`() async throws {
    try await withDatabase { db, _ in
      var changes = Post.changePublisher(in: db).makeAsyncIterator()
      var ids = Post.changePublisher(in: db)
        .filter { !$0.hasPrimaryKeyChanged(1) }.compactMap { $0.changedPrimaryKeys?.first }
        .makeAsyncIterator()
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      try await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
      let first = try await changes.next(isolation: nil)
      #expect(first?.changedPrimaryKeys == [[1]])
      let id = try await ids.next(isolation: nil)
      #expect(id == [2])
    }
  }
}
