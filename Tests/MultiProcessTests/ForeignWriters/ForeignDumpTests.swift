import BoutiqueDB
import Foundation
import ProcessHarness
import Testing

extension MultiProcess {
  /// What programs do with a file that has triggers of ours in it.
  @Suite struct ForeignDumpTests {
    private static var precise: BoutiqueConfiguration {
      var configuration = BoutiqueConfiguration()
      configuration.foreignCapture = .precise
      // The patience with which foreign commits are described is a tenth of it.
      configuration.writeLockTimeout = .seconds(600)
      return configuration
    }

    private static let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("tables") { conn in
        try conn.executeScript(TruthTable.Tables.ordinary.sql)
      }
    }

    @Test func `a dump that is read in again is a database with precise capture`() async throws {
      try await withScene { scene in
        let first = try await BoutiqueDB.open(
          path: scene.path, configuration: Self.precise, migrations: Self.plan)
        await first.close()
        let copy = scene.directory + "/copy.db"
        let dump = try await scene.shell(".dump").joined(separator: "\n")
        let reader = try await scene.children.start(
          ChildCommand("sqlite3", ["-batch", "-bail", copy]))
        reader.send(dump)
        reader.closeInput()
        #expect(try await reader.exit() == .exited(0), "\(reader.standardError)")

        let db = try await BoutiqueDB.open(path: copy, migrations: Self.plan)
        #expect(try await db.foreignCapture() == .precise)
        let start = try await db.currentToken()
        try await scene.shell("REPLACE INTO t VALUES (4, 'one', 4)", on: copy)
        var feed = db.changes(since: start).makeAsyncIterator()
        #expect(
          try await feed.next()?.rows == [
            RowChange(table: "t", kind: .delete, key: [1]),
            RowChange(table: "t", kind: .insert, key: [4]),
          ])
        await db.close()
      }
    }

    /// Nothing of it may fail because of the triggers, whatever the statement says of conflicts.
    @Test func `programs see what they would see without the triggers`() async throws {
      let script = """
        INSERT OR FAIL INTO t (a) VALUES ('x'); SELECT last_insert_rowid(), changes();
        INSERT OR IGNORE INTO t (a) VALUES ('x'), ('y'); SELECT last_insert_rowid(), changes();
        UPDATE OR IGNORE t SET a = 'y'; SELECT changes();
        REPLACE INTO pair VALUES (1, 'x2', 'y3'); SELECT last_insert_rowid(), changes();
        DELETE FROM pair; SELECT changes();
        UPDATE OR ROLLBACK t SET b = 1 WHERE id = 1 RETURNING id, b; SELECT changes();
        INSERT OR ABORT INTO w VALUES ('q', 1, 2) ON CONFLICT DO NOTHING; SELECT changes();
        DROP INDEX pair_y; ALTER TABLE named ADD COLUMN more; ALTER TABLE named DROP COLUMN v;
        ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t RENAME TO u; SELECT count(*) FROM u;
        """
      try await withScene { scene in
        var printed: [[String]] = []
        for configuration in [BoutiqueConfiguration(), Self.precise] {
          let path = scene.directory + "/\(printed.count).db"
          let db = try await BoutiqueDB.open(
            path: path, configuration: configuration, migrations: Self.plan)
          await db.close()
          printed.append(
            try await scene.shell("PRAGMA trusted_schema = OFF; " + script, on: path))
        }
        #expect(printed[0].count > 8)
        #expect(printed[0] == printed[1])
      }
    }
  }
}
