import SQLiteConnection
import Testing

@Suite struct ConflictTextTests {
  @Test(arguments: [
    ("INSERT OR ROLLBACK INTO t VALUES (1)", "INSERT OR ABORT    INTO t VALUES (1)"),
    ("update or rollback t set a = 1", "update or ABORT    t set a = 1"),
    (
      "insert/**/or --\n rollback into t values ('insert or rollback')",
      "insert/**/or --\n ABORT    into t values ('insert or rollback')"
    ),
    (
      "SELECT 1; WITH a AS (SELECT 1) INSERT OR ROLLBACK INTO t SELECT * FROM a",
      "SELECT 1; WITH a AS (SELECT 1) INSERT OR ABORT    INTO t SELECT * FROM a"
    ),
    (
      "EXPLAIN INSERT OR ROLLBACK INTO é VALUES ('ö')",
      "EXPLAIN INSERT OR ABORT    INTO é VALUES ('ö')"
    ),
  ])
  func `the conflict clause becomes one that undoes the statement`(sql: String, expected: String) {
    #expect(ConflictText.abortingInsteadOfRollback(sql) == expected)
    #expect(expected.utf8.count == sql.utf8.count)
  }

  @Test(arguments: [
    "INSERT INTO t VALUES ('insert or rollback')", "SELECT a OR rollback FROM t",
    "INSERT OR REPLACE INTO \"insert or rollback\" VALUES (1)", "ROLLBACK", "",
    "SELECT 1 -- insert or rollback", "SELECT [insert or rollback] FROM t",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT OR ROLLBACK INTO t VALUES (1); END",
    "INSERT OR ROLLBACKS INTO t VALUES (1)", "SELECT 'open or rollback",
  ])
  func `other texts are left alone`(sql: String) {
    #expect(ConflictText.abortingInsteadOfRollback(sql) == nil)
  }

  @Test func `the word is found wherever it stands`() {
    #expect(ConflictText.mentionsRollback("on conflict RollBack"))
    #expect(ConflictText.mentionsRollback("rollback"))
    #expect(!ConflictText.mentionsRollback("rollbac"))
    #expect(!ConflictText.mentionsRollback(""))
  }
}
