import Blackbird
import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChangeSubscriptionTests {
  @Test func `a hundred publishers share one feed, and nothing runs after the last`() async throws {
    try await withDatabase { db, _ in
      var listeners: [Blackbird.AnyCancellable] = []
      let received = (0..<100).map { _ in Received<Blackbird.Change>() }
      for one in received {
        listeners.append(db.changePublisher(for: "Post").sink { one.add($0) })
      }
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      for one in received {
        let changes = await one.wait(for: 1)
        #expect(changes.map(\.primaryKeys) == [[[1]]])
      }
      let engine = try #require(db.openEngine)
      #expect(engine.observerCount == 1)
      listeners.removeLast()
      try await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
      for one in received.dropLast() { await one.wait(for: 2) }
      #expect(received.last?.values.count == 1)
      listeners = []
      try await eventually("nobody observes") { engine.observerCount == 0 }
    }
  }

  @Test func `a subscription ends with its token, wherever that is kept`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Int>()
      var set: Set<Blackbird.AnyCancellable> = []
      var list: [Blackbird.AnyCancellable] = []
      db.changePublisher(for: "Post").sink { _ in received.add(1) }.store(in: &set)
      db.changePublisher(for: "Post").sink { _ in received.add(2) }.store(in: &list)
      var single: Blackbird.AnyCancellable? = db.changePublisher(for: "Post").sink { _ in
        received.add(3)
      }
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      let first = await received.wait(for: 3)
      #expect(Set(first) == [1, 2, 3])
      set = []
      single?.cancel()
      single = nil
      try await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
      try await db.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      let all = await received.wait(for: 5)
      #expect(all.dropFirst(3) == [2, 2])
      list = []
    }
  }

  @Test func `a token that nobody keeps ends at once`() async throws {
    try await withDatabase { db, _ in
      let received = Received<Int>()
      _ = db.changePublisher(for: "Post").sink { _ in received.add(1) }
      let fence = db.changePublisher(for: "Post").sink { _ in received.add(2) }
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      try await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
      let all = await received.wait(for: 2)
      #expect(all == [2, 2])
      fence.cancel()
    }
  }

  @Test func `a slow receiver gets what it missed as one, within bounds`() async throws {
    try await withDatabase { db, _ in
      let gate = Received<Void>()
      let received = Received<Blackbird.ModelChange<Post>>()
      let listener = Post.changePublisher(in: db).sink { change in
        received.add(change)
        await gate.wait(for: 1)
      }
      var iterator = Post.changePublisher(in: db).makeAsyncIterator()
      let fence = Received<Int>()
      let fast = Post.changePublisher(in: db).sink { change in
        for key in change.changedPrimaryKeys ?? [] { fence.add(key[0].intValue ?? 0) }
      }
      for number in 1...300 {
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", number)
      }
      await fence.wait(for: 300)
      #expect(iterator.waitingCount <= 64)
      gate.add(())
      try await eventually("all have arrived") {
        received.values.reduce(into: Set<[Blackbird.Value]>()) {
          $0.formUnion($1.changedPrimaryKeys ?? [])
        }.count == 300
      }
      #expect(received.values.count <= 70)
      var found: Set<[Blackbird.Value]> = []
      while found.count < 300 {
        let change = try #require(try await iterator.next(isolation: nil))
        found.formUnion(change.changedPrimaryKeys ?? [])
      }
      listener.cancel()
      fast.cancel()
    }
  }

  @Test func `closing ends sequences with the error, and sinks with their completion`()
    async throws
  {
    try await withDatabase { db, _ in
      let ends = Received<Blackbird.PublisherCompletion>()
      let listener = db.changePublisher(for: "Post").sink(
        receiveCompletion: { ends.add($0) }, receiveValue: { _ in })
      let task = Task {
        for try await _ in Post.changePublisher(in: db) {}
      }
      try await eventually("both have subscribed") { db.changes.subscriberCount == 2 }
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      await db.close()
      let end = await ends.wait(for: 1)
      guard case .failure(Blackbird.Database.Error.databaseIsClosed) = end[0] else {
        Issue.record("it ended with \(end[0])")
        return
      }
      await #expect { try await task.value } throws: { error in
        if case Blackbird.Database.Error.databaseIsClosed = error { true } else { false }
      }
      listener.cancel()
      var late = Post.changePublisher(in: db).makeAsyncIterator()
      do {
        _ = try await late.next(isolation: nil)
        Issue.record("a closed database published")
      } catch Blackbird.Database.Error.databaseIsClosed {}
    }
  }

  @Test func `what was committed before the end is told before it`() async throws {
    for _ in 0..<20 {
      let directory = try TestDirectory()
      let db = try Blackbird.Database(path: directory.file("app.db"))
      let received = Received<String>()
      let listener = Post.changePublisher(in: db).sink(
        receiveCompletion: { _ in received.add("end") },
        receiveValue: { received.add("\($0.changedPrimaryKeys?.first?.first?.intValue ?? 0)") })
      for number in 1...3 { try await Post(id: number, title: "a", url: nil).write(to: db) }
      await db.close()
      let all = await received.wait(for: 4)
      #expect(all == ["1", "2", "3", "end"])
      listener.cancel()
    }
  }

  @Test func `a file that was replaced ends the sequences`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    let db = try await Blackbird.Database.open(path: path)
    try await db.execute(changeSchema)
    let ends = Received<Blackbird.PublisherCompletion>()
    let listener = db.changePublisher(for: "Post").sink(
      receiveCompletion: { ends.add($0) }, receiveValue: { _ in })
    try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
    try FileManager.default.moveItem(atPath: path, toPath: directory.file("old.db"))
    _ = try? await db.query("INSERT INTO Post VALUES (2, 'a', NULL)")
    let end = await ends.wait(for: 1)
    guard case .failure(Blackbird.Database.Error.queryExecutionError(_, let error)) = end[0],
      case .fileReplaced = error.underlying
    else {
      Issue.record("it ended with \(end[0])")
      return
    }
    listener.cancel()
    await db.close()
  }

  @Test func `a task that is cancelled leaves its loop, a thousand times`() async throws {
    try await withDatabase { db, _ in
      let stays = Received<Blackbird.Change>()
      let listener = db.changePublisher(for: "Post").sink { stays.add($0) }
      let writer = Task {
        for number in 1...100 {
          try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", number)
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for round in 0..<1000 {
          group.addTask {
            let task = Task {
              for try await _ in Post.changePublisher(in: db, primaryKey: round) {}
            }
            if round % 3 == 0 { await Task.yield() }
            task.cancel()
            _ = await task.result
          }
        }
      }
      try await writer.value
      try await eventually("all keys arrived") {
        stays.values.reduce(into: Set<[Blackbird.Value]>()) { $0.formUnion($1.primaryKeys ?? []) }
          .count == 100
      }
      #expect(db.changes.subscriberCount == 1)
      listener.cancel()
      try await eventually("nothing runs") { !db.changes.isFollowing }
    }
  }

  @Test func `sinks come and go while others write, and each hears of the write after it`()
    async throws
  {
    try await withDatabase { db, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
          group.addTask {
            for round in 0..<25 {
              let key = worker * 1000 + round
              let received = Received<Blackbird.ModelChange<Post>>()
              let listener = Post.changePublisher(in: db, primaryKey: key).sink {
                received.add($0)
              }
              try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", key)
              let changes = await received.wait(for: 1)
              #expect(changes[0].hasPrimaryKeyChanged(key))
              listener.cancel()
            }
          }
        }
        try await group.waitForAll()
      }
      try await eventually("nothing runs") { !db.changes.isFollowing }
    }
  }

  @Test func `one who may only read hears of others' writes`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("app.db")
    let maker = try await Blackbird.Database.open(path: path)
    try await maker.execute(changeSchema)
    await maker.close()
    let db = try await Blackbird.Database.open(path: path, options: .readOnly)
    let received = Received<Blackbird.Change>()
    let listener = db.changePublisher(for: "Post").sink { received.add($0) }
    try shell(path, "INSERT INTO Post VALUES (1, 'a', NULL)")
    await received.wait(for: 1)
    // The one before it may be the beginning.
    try shell(path, "INSERT INTO Post VALUES (2, 'a', NULL)")
    await received.wait(for: 2)
    listener.cancel()
    await db.close()
  }

  @Test func `the reporter tells of all tables, commit by commit`() async throws {
    try await withDatabase { db, path in
      var changes = db.changeReporter.changes.makeAsyncIterator()
      let received = Received<Blackbird.DatabaseChange>()
      let listener = db.changeReporter.sink { received.add($0) }
      try await db.transaction { core in
        try core.query("INSERT INTO Post VALUES (1, 'a', NULL)")
        try core.query("INSERT INTO Vote VALUES (1, 'x', 1)")
      }
      let change = try #require(try await changes.next(isolation: nil))
      #expect(change.changes.map(\.table) == ["Post", "Vote"])
      #expect(change.origin == .thisProcess)
      try shell(path, "DELETE FROM Vote")
      let foreign = try #require(try await changes.next(isolation: nil))
      #expect(foreign.isEverything)
      db.changeReporter.reportEntireDatabaseChange()
      let all = await received.wait(for: 3)
      #expect(all.map(\.isEverything) == [false, true, true])
      listener.cancel()
    }
  }
}
