import BoutiqueDB
import Dispatch
import Foundation
import Glibc
import TestDatabase
import Testing

/// Live values while no thread of Swift's pool is free.
///
/// Blocks every one of them on purpose, so it runs where no other test does: `Tools/test` sees to that.
@Suite(
  .enabled(
    if: ProcessInfo.processInfo.environment["BOUTIQUE_TESTS_ALONE"] == "1",
    "needs a process of its own: Tools/test sees to that"))
struct PoolWithoutThreadsTests {
  /// The reads of live queries are offered to the caller of the write; here it has no thread to run on.
  @Test func `a live value does not wait for the caller of the write`() async throws {
    try await withTestDatabase { db, _ in
      try await db.write { conn in
        try conn.executeScript(
          "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO note VALUES (1, 'n1')"
        )
      }
      let width = sysconf(Int32(_SC_NPROCESSORS_ONLN))
      let started = DispatchSemaphore(value: 0)
      let wasRead = DispatchSemaphore(value: 0)
      let late = DispatchSemaphore(value: 0)
      var titles = db.observe { conn -> String in
        let row = try conn.queryOne("SELECT title FROM note WHERE id = 1")
        let title: String = try row?.decode("title") ?? ""
        if title.hasPrefix("last") { for _ in 0..<width { wasRead.signal() } }
        return title
      }.makeAsyncIterator()
      _ = try await titles.next()
      // Until it has proved to be short.
      for number in 0..<20 {
        try await db.write {
          try $0.execute("UPDATE note SET title = ? WHERE id = 1", "a\(number)")
        }
        while let title = try await titles.next(), title != "a\(number)" {}
      }
      let observer = Task { [titles] in
        var titles = titles
        while let title = try await titles.next(), title != "end" {}
      }
      // Nobody can see from outside whether the observer waits already; without the hand-over none succeeds.
      var isInTime = false
      for number in 0..<10 where !isInTime {
        try await db.write { conn in
          for _ in 0..<width {
            Task.detached {
              started.signal()
              if !Self.wait(wasRead, seconds: 2) { late.signal() }
            }
          }
          for _ in 0..<width { started.wait() }
          try conn.execute("UPDATE note SET title = ? WHERE id = 1", "last\(number)")
        }
        isInTime = !Self.wait(late, seconds: 0)
        while Self.wait(late, seconds: 0) || Self.wait(wasRead, seconds: 0) {}
      }
      #expect(isInTime)
      try await db.write { try $0.execute("UPDATE note SET title = 'end' WHERE id = 1") }
      try await observer.value
    }
  }

  /// Blocks the thread, which is the point here.
  private static func wait(_ semaphore: DispatchSemaphore, seconds: Int) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
  }
}
