import BoutiqueDB
import Dispatch
import Foundation
import Synchronization
import TestDatabase
import Testing

/// Reads on the caller's own thread: when they run there, and that nothing else is different.
@Suite struct ReadInPlaceTests {
  /// The name of the thread that asks.
  private static func threadName() -> String {
    (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
  }

  /// Whether there are places at all: with one thread nothing runs in place.
  private static var hasPlaces: Bool { PlaceLimit.limit > 0 }

  private func withDatabase(_ body: (BoutiqueDB, String) async throws -> Void) async throws {
    try await withTestDatabase { db, directory in
      try await db.write { conn in
        try conn.executeScript("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)")
        for number in 1...100 {
          try conn.execute("INSERT INTO note VALUES (?, ?)", number, "n\(number)")
        }
      }
      try await body(db, directory.file("test.db"))
    }
  }

  /// Reads until a read of this kind has run in place.
  private static func settle(_ db: BoutiqueDB) async throws -> Bool {
    for _ in 0..<5000 {
      let name = try await db.read { conn in
        _ = try conn.queryOne("SELECT title FROM note WHERE id = 7")
        return threadName()
      }
      if !name.hasPrefix("boutique-read") { return true }
    }
    return false
  }

  /// Whether a read fails with such an error.
  private static func failure(
    of db: BoutiqueDB, _ isExpected: (BoutiqueError) -> Bool
  ) async throws -> Bool {
    do {
      _ = try await db.read { _ in threadName() }
      return false
    } catch let error as BoutiqueError {
      return isExpected(error)
    }
  }

  @Test func `a kind of read has to prove itself and can lose its right`() {
    let pace = ReadPace()
    let short = ReadPace.short / 2
    let long = ReadPace.short + 1
    func proof() -> Int {
      var count = 0
      while !pace.isShort {
        pace.note(nanoseconds: short)
        count += 1
      }
      return count
    }
    #expect(proof() == 4)
    pace.note(nanoseconds: long)
    #expect(!pace.isShort)
    // The sooner it was long again, the more it has to show.
    #expect(proof() == 8)
    pace.note(nanoseconds: long)
    #expect(proof() == 16)
    // A long one in the middle of the proof begins it anew.
    pace.note(nanoseconds: long)
    for _ in 0..<31 { pace.note(nanoseconds: short) }
    pace.note(nanoseconds: long)
    #expect(proof() == 32)
    for _ in 0..<20 {
      pace.note(nanoseconds: long)
      _ = proof()
    }
    pace.note(nanoseconds: long)
    #expect(proof() == 1024)
    // Long good behaviour is rewarded.
    for _ in 0..<300 { pace.note(nanoseconds: short) }
    #expect(pace.isShort)
    pace.note(nanoseconds: long)
    #expect(proof() == 4)
  }

  @Test func `first on a thread of the pool, and in place once short`() async throws {
    try await withDatabase { db, _ in
      let first = try await db.read { _ in Self.threadName() }
      #expect(first.hasPrefix("boutique-read"))
      #expect(try await Self.settle(db) == Self.hasPlaces)
    }
  }

  @Test func `what runs in place is one snapshot and cannot write`() async throws {
    try await withDatabase { db, _ in
      _ = try await Self.settle(db)
      await #expect(throws: BoutiqueError.self) {
        try await db.read { conn -> String in
          _ = try conn.execute("INSERT INTO note VALUES (1000, 'x')")
          return ""
        }
      }
      struct Wrong: Error {}
      await #expect(throws: Wrong.self) {
        try await db.read { _ -> String in throw Wrong() }
      }
      // The connection is in order for the next one.
      #expect(try await db.read { try $0.query("SELECT count(*) FROM note").count } == 1)
      let escaped = Mutex<Bool?>(nil)
      let title = try await db.read { conn -> String in
        let before = try conn.queryOne("SELECT title FROM note WHERE id = 1")
        let again = try conn.queryOne("SELECT title FROM note WHERE id = 1")
        escaped.withLock { $0 = before?[0] == again?[0] }
        return try before?.decode("title") ?? ""
      }
      let agreed = escaped.withLock { $0 }
      #expect(title == "n1" && agreed == true)
    }
  }

  @Test func `cancelled in place it ends with a cancellation`() async throws {
    try await withDatabase { db, _ in
      _ = try await Self.settle(db)
      let (began, signal) = AsyncStream<Void>.makeStream()
      let task = Task {
        try await db.read { conn -> String in
          signal.yield()
          _ = try conn.query(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
          return ""
        }
      }
      var waiting = began.makeAsyncIterator()
      _ = await waiting.next()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let before = Task { () -> String in
        withUnsafeCurrentTask { $0?.cancel() }
        return try await db.read { _ in "never" }
      }
      await #expect(throws: CancellationError.self) { try await before.value }
      #expect(try await db.read { _ in "still" } == "still")
    }
  }

  @Test func `a deleted file and a closed database are noticed in place`() async throws {
    try await withDatabase { db, path in
      _ = try await Self.settle(db)
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      #expect(try await Self.failure(of: db) { if case .fileReplaced = $0 { true } else { false } })
      try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
      #expect(try await Self.settle(db) == Self.hasPlaces)
      await db.close()
      #expect(try await Self.failure(of: db) { if case .closed = $0 { true } else { false } })
    }
  }

  /// More tasks than there are connections, places or threads, and a close in the middle of it.
  @Test func `many at once get their answers, and a close waits for all`() async throws {
    try await withDatabase { db, _ in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<40 {
          group.addTask {
            var count = 0
            do {
              for number in 0..<200 {
                let key = (task * 31 + number) % 100 + 1
                let title: String? = try await db.read { conn in
                  try conn.queryOne("SELECT title FROM note WHERE id = ?", key)?.decode("title")
                }
                #expect(title == "n\(key)")
                count += 1
              }
            } catch BoutiqueError.closed {}
            return count
          }
        }
        _ = try await group.next()
        await db.close()
        for try await count in group { #expect(count <= 200) }
      }
    }
  }

  /// A closure may do what it likes on its thread; here it runs other databases' closures, and waits for tasks.
  @Test(.timeLimit(.minutes(2)))
  func `a read in place may hold other reads and wait for the work of tasks`() async throws {
    try await withDatabase { db, path in
      for round in 0..<50 {
        _ = try await Self.settle(db)
        let done = DispatchSemaphore(value: 0)
        let name = try await db.read { conn -> String in
          let outer: String? = try conn.queryOne("SELECT title FROM note WHERE id = 3")?.decode(0)
          // On a snapshot and a connection of its own.
          let inner: String? =
            try BoutiqueDB.readOnce(path: path) {
              try $0.queryOne("SELECT title FROM note WHERE id = 4")?.decode(0)
            } ?? nil
          #expect(outer == "n3" && inner == "n4")
          Task {
            // Of the same kind, so that it is trusted as well; and a write with a live query's reads.
            _ = try await db.read { _ in "" }
            try await db.write {
              try $0.execute("UPDATE note SET title = ? WHERE id = 9", "r\(round)")
            }
            done.signal()
          }
          #expect(Self.wait(done, seconds: 60))
          // The snapshot has stayed.
          let nine: String? = try conn.queryOne("SELECT title FROM note WHERE id = 9")?.decode(0)
          return nine ?? ""
        }
        #expect(name == (round == 0 ? "n9" : "r\(round - 1)"))
      }
    }
  }

  /// Blocks the thread, which is the point here.
  private static func wait(_ semaphore: DispatchSemaphore, seconds: Int) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
  }

  @Test func `a commit of ours explains what the watcher sees of it`() {
    let commit = OwnCommit()
    func state() -> [Bool] { [commit.explainsWriting, commit.noteBell(), commit.didTell()] }
    #expect(state() == [false, false, false])
    commit.begin()
    var explains = commit.explainsWriting
    #expect(explains)
    commit.didWrite()
    // From here on another program may write.
    explains = commit.explainsWriting
    #expect(!explains)
    // A bell meanwhile is answered at the end.
    #expect(state() == [false, true, true])
    #expect(state() == [false, false, false])
    commit.begin()
    commit.didWrite()
    let rang = commit.didTell()
    #expect(!rang)
  }
}
