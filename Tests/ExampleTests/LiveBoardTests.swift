import Glibc
import ProcessHarness
import TestDatabase
import Testing

/// The terminal board of `docs/live-queries.md`.
@Suite struct LiveBoardTests {
  @Test func `the board is drawn for each commit, and ends in order`() async throws {
    let directory = try TestDirectory()
    let database = directory.file("jobs.db")
    try await withChildProcesses { children in
      let board = try await children.start(built: "example-live-board", [database])
      func commit(_ sql: String) async throws {
        let shell = try await children.start(ChildCommand("sqlite3", ["-batch", database, sql]))
        #expect(try await shell.exit() == .exited(0))
      }
      func expectTotals(_ text: String) async throws {
        _ = try await board.next(text) { $0.text == text }
      }
      try await expectTotals("running 0   waiting 0   failed 0   done 0")
      try await commit(
        "INSERT INTO job (name, state, progress) VALUES ('index', 'running', 40), ('mail', 'waiting', 0)"
      )
      try await expectTotals("running 1   waiting 1   failed 0   done 0")
      _ = try await board.next("the bar") { line in
        line.text.hasPrefix("running  index ") && line.text.hasSuffix(" ########............")
      }
      try await commit("UPDATE job SET state = 'done' WHERE name = 'index'")
      try await expectTotals("running 0   waiting 1   failed 0   done 1")
      board.signal(SIGTERM)
      #expect(try await board.exit() == .exited(0))
    }
  }
}
