import BoutiqueDB
import ProcessHarness
import Testing

extension MultiProcess {
  /// A mode that one process sets is gone by in another, and its rows are read in a third.
  @Suite struct CaptureModesTests {
    @Test func `rows kept by one process are read in another`() async throws {
      try await withScene { scene in
        let writer = try await scene.opened("writer")
        try await writer.execute("INSERT INTO note VALUES (1, 'without a row')")
        let db = try await BoutiqueDB.open(path: scene.path)
        try await db.setCaptureMode(.full, forTable: "note")
        let start = try await db.currentToken()
        try await writer.execute("INSERT INTO note VALUES (2, 'first')")
        try await writer.execute("UPDATE note SET body = 'second' WHERE id = 2")
        try await writer.execute("DELETE FROM note WHERE id = 2")
        var feed = db.changes(since: start).makeAsyncIterator()
        var rows: [RowChange] = []
        while rows.count < 3 { rows += try #require(try await feed.next()).rows }
        await db.close()
        let first: [SQLValue] = [2, "first"]
        let second: [SQLValue] = [2, "second"]
        #expect(rows.map { $0.before?.values } == [nil, first, second])
        #expect(rows.map { $0.after?.values } == [first, second, nil])
        #expect(rows[1].updates?.columns == ["body"])
        #expect(rows[1].updates?.values == ["second"])
        try await scene.expectIntegrity()
      }
    }

    @Test func `a killed writer leaves rows of its commits only`() async throws {
      try await withScene { scene in
        let db = try await BoutiqueDB.open(path: scene.path)
        try await db.setCaptureMode(.after, forTable: "log")
        let writer = try await scene.opened("writer")
        let appending = writer.begin(
          "append", ["writer": "w", "sql": Scene.transfer])
        while try await db.read({ try $0.query("SELECT * FROM log").count }) < 50 {}
        writer.child.kill()
        _ = try await writer.child.exit()
        _ = appending
        // Every row of the table has its image, and every image its row.
        let counts = try await db.read { conn in
          let rows = try conn.query("SELECT count(*) FROM log")[0].decode(0, as: Int.self)
          let images = try conn.query("SELECT count(after) FROM boutiquedb_image")[0]
          return (rows, try images.decode(0, as: Int.self))
        }
        #expect(counts.0 == counts.1 && counts.0 >= 50)
        await db.close()
        try await scene.expectIntegrity()
      }
    }
  }
}
