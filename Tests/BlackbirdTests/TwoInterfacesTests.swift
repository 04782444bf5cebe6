import Blackbird
import BoutiqueDB
import TestDatabase
import Testing

/// A file that one process has open by two interfaces.
@Suite struct TwoInterfacesTests {
  @Test(.timeLimit(.minutes(1)))
  func `what the engine's own interface commits in this process is known to be this process's`()
    async throws
  {
    try await withBlackbird { db, directory in
      try await Story(id: 1, title: "x", url: nil).write(to: db)
      let engine = try await BoutiqueDB.open(path: directory.file("test.db"))
      var changes = Story.changePublisher(in: db).makeAsyncIterator()
      try await engine.write { conn in
        try conn.execute("UPDATE Story SET title = 'y'")
      }
      let change = try #require(try await changes.next(isolation: #isolation))
      guard case .process = change.origin else {
        Issue.record("\(change.origin)")
        return
      }
      #expect(change.origin.isOfThisProcess)
      #expect(change.changedPrimaryKeys == [[1]])
      #expect(try await Story.read(from: db, id: 1)?.title == "y")
      try await Story.update(in: db, set: [\.$title: "z"], matching: .all)
      let own = try #require(try await changes.next(isolation: #isolation))
      #expect(own.origin == .thisProcess)
      #expect(own.origin.isOfThisProcess)
      #expect(!Blackbird.ChangeOrigin.process(pid: 1, label: "").isOfThisProcess)
      #expect(!Blackbird.ChangeOrigin.foreign.isOfThisProcess)
      await engine.close()
    }
  }
}
