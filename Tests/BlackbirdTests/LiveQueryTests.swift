import Blackbird
import Dispatch
import Foundation
import Observation
import Synchronization
import TestDatabase
import Testing

@MainActor @Observable private final class MaximumModel {
  @ObservationIgnored @BlackbirdLiveQuery var maximum: Blackbird.LiveResults<Blackbird.Row>

  init(_ db: Blackbird.Database) {
    _maximum = BlackbirdLiveQuery(in: db, tableName: "Post") {
      try await $0.query("SELECT max(id) AS max FROM Post")
    }
  }
}

@MainActor @Observable private final class EnvironmentModel {
  @ObservationIgnored
  @BlackbirdLiveQuery(tableName: "Post", { try await $0.query("SELECT id FROM Post") }) var ids
}

/// Nobody's in particular: for a program whose main thread is busy.
private struct DaemonModel: Sendable {
  @BlackbirdLiveQuery(tableName: "Post", { try await $0.query("SELECT id FROM Post") }) var ids
}

private let mainQueue = DispatchSpecificKey<Bool>()

/// Counts the changes of a model that happen outside the main actor.
@MainActor private func watch(_ model: MaximumModel, _ outside: Counter) {
  DispatchQueue.main.setSpecific(key: mainQueue, value: true)
  withObservationTracking {
    _ = model.maximum
  } onChange: {
    if DispatchQueue.getSpecific(key: mainQueue) != true { outside.add() }
    Task { @MainActor in watch(model, outside) }
  }
}

private actor Keeper {
  private var observer: BlackbirdModelQueryObserver<Post, Int>?

  func watch(_ db: Blackbird.Database) {
    observer = Post.QueryObserver(in: db) { try await $0.query("SELECT 1 FROM Post").count }
  }

  func count() async throws -> Int? {
    try await observer?.refresh()
    return observer?.result
  }
}

@MainActor @Observable private final class PostList {
  @ObservationIgnored
  @BlackbirdLiveModels({ try await Post.read(from: $0, orderBy: .ascending(\.$id)) }) var posts
}

/// Counts the changes of a list that happen outside the main actor.
@MainActor private func watch(_ list: PostList, _ outside: Counter) {
  DispatchQueue.main.setSpecific(key: mainQueue, value: true)
  withObservationTracking {
    _ = list.posts
  } onChange: {
    if DispatchQueue.getSpecific(key: mainQueue) != true { outside.add() }
    Task { @MainActor in watch(list, outside) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct LiveQueryTests {
  @Test @MainActor func `a live query loads and follows writes`() async throws {
    try await withDatabase { db, path in
      let model = MaximumModel(db)
      #expect(!model.maximum.didLoad)
      var values: [Blackbird.Value?] = []
      let seen = Observations { model.maximum.didLoad ? model.maximum.results.first?["max"] : nil }
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
      for await value in seen {
        values.append(value)
        switch value {
        case 1: try await db.query("INSERT INTO Post VALUES (5, 'a', NULL)")
        case 5: try shell(path, "INSERT INTO Post VALUES (9, 'a', NULL)")
        case 9: break
        default: continue
        }
        if value == 9 { break }
      }
      #expect(model.maximum.error == nil)
      // Nobody else writes: each value is there once, in order.
      let numbers = values.compactMap { $0?.intValue }
      #expect(numbers == numbers.sorted())
      #expect(Set(numbers).isSuperset(of: [1, 5, 9]))
    }
  }

  @Test @MainActor func `refresh waits for all that was committed before`() async throws {
    try await withDatabase { db, path in
      let model = MaximumModel(db)
      for number in 1...20 {
        if number % 5 == 0 {
          try shell(path, "INSERT INTO Post VALUES (\(number), 'a', NULL)")
        } else {
          try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", number)
        }
        try await model.$maximum.refresh()
        #expect(model.maximum.results.first?["max"] == .integer(Int64(number)))
        #expect(model.maximum.didLoad)
      }
    }
  }

  @Test @MainActor func `a database comes from the task, or from the program, be it later`()
    async throws
  {
    try await withDatabase { db, _ in
      try await db.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      let inTask = BlackbirdEnvironment.$database.withValue(db) { EnvironmentModel() }
      try await eventually("it loads") { inTask.ids.didLoad }
      #expect(inTask.ids.results.map { $0["id"] } == [3])
      let waiting = EnvironmentModel()
      #expect(waiting.ids.error as? BlackbirdLiveError == .noDatabase)
      await #expect(throws: BlackbirdLiveError.noDatabase) { try await waiting.$ids.refresh() }
      BlackbirdEnvironment.setDatabase(db)
      defer { BlackbirdEnvironment.setDatabase(nil) }
      try await eventually("it loads later") { waiting.ids.didLoad }
      #expect(waiting.ids.error == nil)
    }
  }

  @Test @MainActor func `results of the main actor's model change only in its turns`() async throws
  {
    try await withDatabase { db, _ in
      let model = MaximumModel(db)
      try await model.$maximum.refresh()
      let outside = Counter()
      watch(model, outside)
      for number in 1...10 {
        try await db.query("INSERT INTO Post VALUES (?, 'a', NULL)", number)
        try await model.$maximum.refresh()
      }
      #expect(outside.count == 0)
    }
  }

  @Test @MainActor func `so do those of a property with its wrapper in the declaration`()
    async throws
  {
    try await withDatabase { db, _ in
      let list = BlackbirdEnvironment.$database.withValue(db) { PostList() }
      let outside = Counter()
      watch(list, outside)
      for number in 1...10 {
        try await Post(id: number, title: "a", url: nil).write(to: db)
        try await list.$posts.refresh()
        #expect(list.posts.results.map(\.id) == Array(1...number))
      }
      #expect(outside.count == 0)
    }
  }

  @Test func `an actor that owns its observer is let go with it`() async throws {
    try await withDatabase { db, _ in
      weak var weakly: Keeper?
      do {
        let keeper = Keeper()
        weakly = keeper
        await keeper.watch(db)
        try await db.query("INSERT INTO Post VALUES (1, 'a', NULL)")
        let count = try await keeper.count()
        #expect(count == 1)
      }
      try await eventually("nothing is left") {
        weakly == nil && db.changes.subscriberCount == 0
      }
    }
  }

  @Test func `a model of nobody follows while the main thread is busy`() async throws {
    try await withDatabase { db, _ in
      let model = BlackbirdEnvironment.$database.withValue(db) { DaemonModel() }
      let isOver = Atomic(false)
      let busy = Task { @MainActor in
        // A daemon's main thread that never comes back.
        while !isOver.load(ordering: .acquiring) { usleep(1000) }
      }
      try await db.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      try await eventually("it follows") { model.ids.results.map { $0["id"] } == [3] }
      isOver.store(true, ordering: .releasing)
      await busy.value
    }
  }

  @Test func `an error is shown, and is no end`() async throws {
    try await withDatabase(schema: "") { db, _ in
      let observer = Post.QueryObserver(in: db, isolation: .anywhere) {
        try await $0.query("SELECT count(*) AS n FROM Post")[0]["n"]?.intValue
      }
      try await eventually("it fails") { observer.error != nil }
      #expect(!observer.didLoad)
      try await db.execute(changeSchema)
      try await eventually("it has gone on") { observer.error == nil && observer.result == 0 }
      try await db.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      try await eventually("it follows") { observer.result == 1 }
      try await db.execute("ALTER TABLE Post RENAME TO Gone")
      try await eventually("it fails again") { observer.error != nil }
      #expect(observer.result == 1)
      await #expect(throws: Blackbird.Database.Error.self) { try await observer.refresh() }
      try await db.execute("ALTER TABLE Gone RENAME TO Post")
      try await eventually("it is back") { observer.error == nil && observer.result == 1 }
    }
  }

  @Test func `an equal result tells nobody`() async throws {
    try await withDatabase { db, _ in
      let reads = Counter()
      let observer = Post.QueryObserver(in: db, isolation: .anywhere) { db -> [Blackbird.Row] in
        reads.add()
        return try await db.query("SELECT count(*) AS n FROM Post")
      }
      try await observer.refresh()
      let told = Counter()
      withObservationTracking {
        _ = observer.result
      } onChange: {
        told.add()
      }
      try await db.query("INSERT INTO Vote VALUES (1, 'x', 1)")
      try await observer.refresh()
      try await observer.refresh()
      let before = reads.count
      #expect(before >= 3)
      #expect(told.count == 0)
      try await db.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      try await observer.refresh()
      #expect(told.count == 1)
    }
  }

  @Test func `only changes of the columns and rows that matter lead to a read`() async throws {
    try await withDatabase { db, _ in
      try await db.query("INSERT INTO Post VALUES (1, 'a', NULL), (2, 'a', NULL)")
      let reads = Counter()
      let titles = Post.QueryObserver(
        in: db, columnsForInvalidation: [\.$title], isolation: .anywhere
      ) { db -> [Blackbird.Row] in
        reads.add()
        return try await db.query("SELECT title FROM Post ORDER BY id")
      }
      let rowReads = Counter()
      let row = Post.QueryObserver(
        in: db, multicolumnPrimaryKeyForInvalidation: [2], isolation: .anywhere
      ) { db -> [Blackbird.Row] in
        rowReads.add()
        return try await db.query("SELECT title FROM Post WHERE id = 2")
      }
      try await titles.refresh()
      try await row.refresh()
      let fence = Received<Int>()
      let listener = db.changePublisher(for: "Post").sink { _ in fence.add(1) }
      let before = (reads.count, rowReads.count)
      for number in 1...20 {
        try await db.query("UPDATE Post SET url = ? WHERE id = 1", "\(number)")
      }
      await fence.wait(for: 20)
      try await titles.refresh()
      try await row.refresh()
      #expect(reads.count == before.0 + 1)
      #expect(rowReads.count == before.1 + 1)
      try await db.query("UPDATE Post SET title = 'b' WHERE id = 2")
      try await eventually("both see it") {
        titles.result?[1]["title"] == "b" && row.result?[0]["title"] == "b"
      }
      listener.cancel()
    }
  }

  @Test func `letting go of an observer ends its work`() async throws {
    try await withDatabase { db, _ in
      final class Marker: Sendable {}
      weak var weakly: Marker?
      do {
        let marker = Marker()
        weakly = marker
        var observer: BlackbirdModelQueryObserver<Post, Int>? = Post.QueryObserver(
          in: db, isolation: .anywhere
        ) { db in
          _ = marker
          return try await db.query("SELECT 1 FROM Post").count
        }
        try await observer?.refresh()
        #expect(db.changes.subscriberCount == 1)
        observer = nil
      }
      try await eventually("nothing is left") {
        db.changes.subscriberCount == 0 && !db.changes.isFollowing && weakly == nil
      }
    }
  }

  @Test func `letting go of an observer while its actor is busy ends its work`() async throws {
    try await withDatabase { db, _ in
      let isOver = Atomic(false)
      let isBusy = Atomic(false)
      let busy = Task { @MainActor in
        isBusy.store(true, ordering: .releasing)
        while !isOver.load(ordering: .acquiring) { usleep(1000) }
      }
      try await eventually("it is busy") { isBusy.load(ordering: .acquiring) }
      weak var weakly: BlackbirdModelQueryObserver<Post, Int>?
      do {
        let observer = Post.QueryObserver(in: db, isolation: .actor(MainActor.shared)) { db in
          try await db.query("SELECT 1 FROM Post").count
        }
        weakly = observer
        #expect(db.changes.subscriberCount == 1)
      }
      #expect(weakly == nil)
      try await eventually("nothing is left") { db.changes.subscriberCount == 0 }
      isOver.store(true, ordering: .releasing)
      await busy.value
    }
  }

  @Test func `an observer can be bound to another database, and to none`() async throws {
    try await withDatabase { db, _ in
      let other = try Blackbird.Database.inMemoryDatabase()
      try await other.execute(changeSchema)
      try await other.query("INSERT INTO Post VALUES (3, 'a', NULL)")
      let observer = Post.QueryObserver(isolation: .anywhere) { db in
        try await db.query("SELECT 1 FROM Post").count
      }
      #expect(observer.result == nil)
      observer.bind(to: db)
      try await eventually("it loads") { observer.result == 0 }
      observer.bind(to: other)
      try await eventually("it loads the other") { observer.result == 1 }
      #expect(db.changes.subscriberCount == 0)
      observer.bind(to: nil)
      BlackbirdEnvironment.$database.withValue(db) {
        #expect(observer.result == 1)
      }
      #expect(other.changes.subscriberCount == 0)
      #expect(db.changes.subscriberCount == 0)
      await other.close()
    }
  }

  @Test func `a database that closes is an error and the end`() async throws {
    try await withDatabase { db, _ in
      let observer = Post.QueryObserver(in: db, isolation: .anywhere) { db in
        try await db.query("SELECT 1 FROM Post").count
      }
      try await observer.refresh()
      await db.close()
      try await eventually("it says so") { observer.error != nil }
      await #expect(throws: Blackbird.Database.Error.self) { try await observer.refresh() }
      #expect(observer.result == 0)
    }
  }

  @Test func `a storm of writes ends in the truth`() async throws {
    try await withDatabase { db, _ in
      let observers = (0..<20).map { _ in
        Post.QueryObserver(in: db, isolation: .anywhere) { db in
          try await db.query("SELECT count(*) AS n FROM Post")[0]["n"]?.intValue ?? -1
        }
      }
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for number in 0..<50 {
              _ = try? await db.query(
                "INSERT INTO Post VALUES (?, 'a', NULL)", writer * 1000 + number)
            }
          }
        }
      }
      for observer in observers {
        try await eventually("it is the truth") { observer.result == 200 }
      }
    }
  }
}
