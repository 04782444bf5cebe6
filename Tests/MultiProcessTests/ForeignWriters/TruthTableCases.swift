extension TruthTable {
  static let sections: [(title: String, cases: [Case])] = [
    ("Rows", rows), ("Virtual tables", virtualOnes), ("The schema", schema),
    ("The file as a whole", file), ("Programs that get in our way", adversaries),
  ]

  static let cases = sections.flatMap(\.cases)

  private static let rows: [Case] = [
    Case(
      title: "`INSERT`", sql: "INSERT INTO t VALUES (4, 'four', 4)", own: "t: insert 4",
      precise: "t: insert 4"),
    Case(
      title: "`INSERT`, the row id chosen by SQLite", sql: "INSERT INTO t (a) VALUES ('four')",
      own: "t: insert 4", precise: "t: insert 4"),
    Case(
      title: "`INSERT … SELECT`",
      sql: "INSERT INTO t SELECT id + 10, a || '!', b FROM t WHERE id < 3",
      own: "t: insert 11, insert 12", precise: "t: insert 11, insert 12"),
    Case(
      title: "`UPDATE`", sql: "UPDATE t SET b = 9 WHERE id = 1", own: "t: update 1 (b)",
      precise: "t: update 1 (b)"),
    Case(
      title: "`UPDATE` of several columns, one of which keeps its value",
      sql: "UPDATE t SET a = 'x', b = 1 WHERE id = 1", own: "t: update 1 (a)",
      precise: "t: update 1 (a, b)"),
    Case(
      title: "`UPDATE` of a row id", sql: "UPDATE t SET id = 5 WHERE id = 1",
      own: "t: delete 1, insert 5", precise: "t: delete 1, insert 5"),
    Case(
      title: "`UPDATE` of a row id by its other name, with a column",
      sql: "UPDATE t SET rowid = 5, b = 9 WHERE id = 1", own: "t: delete 1, insert 5",
      precise: "t: delete 1, insert 5"),
    Case(
      title: "`DELETE`", sql: "DELETE FROM t WHERE id = 2", own: "t: delete 2",
      precise: "t: delete 2"),
    Case(
      title: "`DELETE` without `WHERE`", sql: "DELETE FROM t",
      own: "t: delete 1, delete 2, delete 3", precise: "t: delete 1, delete 2, delete 3"),
    Case(
      title: "`REPLACE` of a row by one with its key", sql: "REPLACE INTO t VALUES (1, 'uno', 9)",
      own: "t: delete 1, insert 1", precise: "t: delete 1, insert 1"),
    Case(
      title: "`REPLACE` that displaces another row",
      sql: "INSERT OR REPLACE INTO t VALUES (4, 'one', 0)", own: "t: delete 1, insert 4",
      precise: "t: delete 1, insert 4"),
    Case(
      title: "`REPLACE` that displaces three rows",
      sql: "INSERT OR REPLACE INTO pair VALUES (1, 'x2', 'Y3')",
      own: "pair: delete 1, delete 3, delete 2, insert 1",
      precise: "pair: delete 1, delete 3, delete 2, insert 1"),
    Case(
      title: "`UPDATE OR REPLACE` that displaces two rows",
      sql: "UPDATE OR REPLACE pair SET x = 'x2', y = 'Y3' WHERE id = 1",
      own: "pair: delete 3, delete 2, update 1 (x, y)",
      precise: "pair: delete 3, delete 2, update 1 (x, y)"),
    Case(
      title: "`UPDATE OR REPLACE` of a row id that is taken",
      sql: "UPDATE OR REPLACE t SET id = 2 WHERE id = 1", own: "t: delete 2, delete 1, insert 2",
      precise: "t: delete 2, delete 1, insert 2"),
    Case(
      title: "`OR REPLACE` of a NULL by a default that is taken",
      sql: "INSERT OR REPLACE INTO filled VALUES (2, NULL)", own: "filled: delete 1, insert 2",
      precise: "filled whole"),
    Case(
      title: "`REPLACE` where a unique index covers a part of the rows",
      sql: "REPLACE INTO part VALUES (2, 'a', NULL)", own: "part: delete 1, insert 2",
      precise: "part whole"),
    Case(
      title: "`INSERT OR IGNORE` that is ignored",
      sql: "INSERT OR IGNORE INTO t VALUES (1, 'x', 9)", own: "nothing", coarse: "nothing",
      precise: "nothing"),
    Case(
      title: "upsert that inserts",
      sql: "INSERT INTO t VALUES (4, 'x', 0) ON CONFLICT (id) DO UPDATE SET b = 7",
      own: "t: insert 4", precise: "t: insert 4"),
    Case(
      title: "upsert that updates",
      sql: "INSERT INTO t VALUES (1, 'x', 0) ON CONFLICT (id) DO UPDATE SET b = 7",
      own: "t: update 1 (b)", precise: "t: update 1 (b)"),
    Case(
      title: "a transaction of several statements",
      sql:
        "BEGIN; INSERT INTO t VALUES (4, 'four', 4); UPDATE t SET b = 5 WHERE id = 4; DELETE FROM plain; COMMIT",
      own: "t: insert 4, update 4 (b); plain: delete 7, delete 8",
      precise: "t: insert 4, update 4 (b); plain: delete 7, delete 8"),
    Case(
      title: "a transaction that is rolled back",
      sql: "BEGIN; INSERT INTO t VALUES (4, 'four', 4); ROLLBACK", library: .none, own: "–",
      coarse: "nothing", precise: "nothing"),
    Case(
      title: "a savepoint that is rolled back",
      sql:
        "BEGIN; INSERT INTO t VALUES (4, 'four', 4); SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s; COMMIT",
      library: .none, own: "–", precise: "t: insert 4"),
    Case(
      title: "what triggers do: insert and update",
      sql: "INSERT INTO watched VALUES (2, 2)",
      own: "watched: insert 2; journal: insert 1; t: update 1 (b)",
      precise: "watched: insert 2; journal: insert 1; t: update 1 (b)"),
    Case(
      title: "what triggers do: delete", sql: "UPDATE watched SET v = 2",
      own: "plain: delete 7; watched: update 1 (v)",
      precise: "plain: delete 7; watched: update 1 (v)"),
    Case(
      title: "foreign key actions: `CASCADE`, `SET NULL`",
      sql: "PRAGMA foreign_keys = ON; DELETE FROM parent WHERE id = 1",
      own: "parent: delete 1; orphan: update 20 (parent); child: delete 10, delete 11",
      precise: "orphan: update 20 (parent); child: delete 10, delete 11; parent: delete 1"),
    Case(
      title: "foreign key actions: `ON UPDATE CASCADE`",
      sql: "PRAGMA foreign_keys = ON; UPDATE parent SET id = 3 WHERE id = 1",
      own:
        "parent: delete 1, insert 3; orphan: update 20 (parent); child: update 10 (parent), update 11 (parent)",
      precise:
        "orphan: update 20 (parent); child: update 10 (parent), update 11 (parent); parent: delete 1, insert 3"
    ),
    Case(
      title: "a deferred foreign key",
      sql:
        "PRAGMA foreign_keys = ON; BEGIN; INSERT INTO late VALUES (1, 9); INSERT INTO parent VALUES (9, 'r'); COMMIT",
      own: "late: insert 1; parent: insert 9", precise: "late: insert 1; parent: insert 9"),
    Case(
      title: "`REPLACE` of a row that others refer to",
      sql: "PRAGMA foreign_keys = ON; REPLACE INTO parent VALUES (5, 'p')",
      own:
        "parent: delete 1; orphan: update 20 (parent); child: delete 10, delete 11; parent: insert 5",
      precise:
        "parent: delete 1; orphan: update 20 (parent); child: delete 10, delete 11; parent: insert 5"
    ),
    Case(
      title: "without row ids: insert", sql: "INSERT INTO w VALUES ('new', 3, 'n')",
      own: "w: insert (new, 3)", precise: "w: insert (new, 3)"),
    Case(
      title: "without row ids: update, of the key too",
      sql: "BEGIN; UPDATE w SET v = 'z' WHERE n = 1; UPDATE w SET n = 9 WHERE n = 2; COMMIT",
      own: "w: update (k, 1) (v), delete (k, 2), insert (k, 9)",
      precise: "w: update (k, 1) (v), delete (k, 2), insert (k, 9)"),
    Case(
      title: "without row ids: `REPLACE`, two rows displaced",
      sql: "REPLACE INTO w VALUES ('k', 1, 'u')",
      own: "w: delete (k, 1), delete (k, 2), insert (k, 1)",
      precise: "w: delete (k, 1), delete (k, 2), insert (k, 1)"),
    Case(
      title: "without row ids: blobs and reals in the key",
      sql: "INSERT INTO w VALUES (x'00ff', 2.5, NULL)", own: "w: insert (x'0 ff', 2.5)",
      precise: "w: insert (x'0 ff', 2.5)"),
    Case(
      title: "no primary key", sql: "UPDATE plain SET a = 'z' WHERE a = 'x'",
      own: "plain: update 7 (a)", precise: "plain: update 7 (a)"),
    Case(
      title: "no primary key, the row id set",
      sql: "UPDATE OR REPLACE plain SET oid = 8 WHERE a = 'x'",
      own: "plain: delete 8, delete 7, insert 8", precise: "plain: delete 8, delete 7, insert 8"),
    Case(
      title: "a primary key that is no row id", sql: "REPLACE INTO named VALUES ('n', 2)",
      own: "named: delete 5, insert 6", precise: "named: delete 5, insert 6"),
    Case(
      title: "a row id that has no name left", sql: "INSERT INTO hidden VALUES (1, 2, 3)",
      own: "hidden: insert 1", precise: "hidden whole"),
    Case(
      title: "`STRICT`", sql: "UPDATE firm SET v = v + 1", own: "firm: update 1 (v)",
      precise: "firm: update 1 (v)"),
    Case(
      title: "generated columns", sql: "UPDATE made SET a = 'c' WHERE id = 1",
      own: "made: update 1 (a, s, v)", precise: "made: update 1 (a, s, v)"),
    Case(
      title: "`REPLACE` by a generated column",
      sql: "UPDATE OR REPLACE made SET a = 'b' WHERE id = 1",
      own: "made: delete 2, update 1 (a, s, v)", precise: "made: delete 2, update 1 (a, s, v)"),
    Case(
      title: "a view with an `INSTEAD OF` trigger", sql: "INSERT INTO shown VALUES (4, 'four')",
      own: "t: insert 4", precise: "t: insert 4"),
    Case(
      title: "a name with quotes and dots",
      sql: #"INSERT INTO "it's ""odd"".name" VALUES (1, 2)"#,
      own: #"it's "odd".name: insert 1"#, precise: #"it's "odd".name: insert 1"#),
    Case(
      title: "a keyword as a name", sql: #"REPLACE INTO "select" VALUES ('a', 1)"#,
      own: "select: insert (a)", precise: "select: insert (a)"),
    Case(
      title: "a name beyond ASCII", sql: "INSERT INTO Größe VALUES (1)",
      own: "Größe: insert 1", precise: "Größe: insert 1"),
    Case(
      title: "a name that begins like ours", sql: "INSERT INTO boutiquedb_mine VALUES (1)",
      own: "boutiquedb_mine: insert 1", precise: "boutiquedb_mine: insert 1"),
    Case(
      title: "a temporary table", sql: "CREATE TEMP TABLE x (a); INSERT INTO x VALUES (1)",
      own: "nothing", coarse: "nothing", precise: "nothing"),
    Case(
      title: "`ATTACH`ed by another connection", sql: "ATTACH 'elsewhere.db' AS o",
      shell: [":memory:", "ATTACH '{path}' AS o; REPLACE INTO o.t VALUES (4, 'one', 4)"],
      python: """
        other = sqlite3.connect(':memory:', isolation_level=None)
        other.execute('ATTACH ? AS o', (path,))
        other.execute("REPLACE INTO o.t VALUES (4, 'one', 4)")
        """, library: .refuses, own: "refused", precise: "t: delete 1, insert 4"),
  ]

  private static let virtualOnes: [Case] = [
    Case(
      title: "FTS5", tables: .virtual, sql: "INSERT INTO note VALUES ('a word')",
      own: "note whole", precise: "everything"),
    Case(
      title: "FTS5 with outside content", tables: .virtual,
      sql:
        "BEGIN; INSERT INTO article VALUES (1, 'a word'); INSERT INTO found (rowid, body) VALUES (1, 'a word'); COMMIT",
      own: "article: insert 1; found whole",
      precise: "article: insert 1; box whole, found whole, note whole"),
    Case(
      title: "R-Tree", tables: .virtual, sql: "INSERT INTO box VALUES (1, 0, 1)", own: "box whole",
      precise: "everything"),
    Case(
      title: "an ordinary table beside virtual ones", tables: .virtual,
      sql: "INSERT INTO t VALUES (4, 'four', 4)", own: "t: insert 4",
      precise: "t: insert 4; box whole, found whole, note whole"),
  ]

  private static let schema: [Case] = [
    Case(
      title: "`CREATE TABLE`", sql: "CREATE TABLE fresh (a)",
      own: "fresh whole, sqlite_schema whole", precise: "everything"),
    Case(
      title: "`INSERT` into a table made a moment ago",
      sql: "CREATE TABLE fresh (id INTEGER PRIMARY KEY); INSERT INTO fresh VALUES (1)",
      own: "fresh whole, sqlite_schema whole", precise: "everything"),
    Case(
      title: "`INSERT` into a table made by a foreign program, after one of ours has looked",
      before: ["CREATE TABLE fresh (id INTEGER PRIMARY KEY)"],
      sql: "INSERT INTO fresh VALUES (1)", own: "fresh: insert 1", precise: "fresh: insert 1"),
    Case(
      title: "`DROP TABLE`", sql: "DROP TABLE plain", own: "plain whole, sqlite_schema whole",
      precise: "everything"),
    Case(
      title: "`ALTER TABLE … ADD COLUMN`", sql: "ALTER TABLE t ADD COLUMN c DEFAULT 7",
      own: "sqlite_schema whole, t whole", precise: "everything"),
    Case(
      title: "`ALTER TABLE … RENAME COLUMN`", sql: "ALTER TABLE t RENAME COLUMN b TO c",
      own: "sqlite_schema whole, t whole", precise: "everything"),
    Case(
      title: "`ALTER TABLE … DROP COLUMN`", sql: "ALTER TABLE t DROP COLUMN b",
      own: "sqlite_schema whole, t whole", precise: "everything"),
    Case(
      title: "`ALTER TABLE … RENAME TO`", sql: "ALTER TABLE t RENAME TO u",
      own: "sqlite_schema whole, t whole, u whole", precise: "everything"),
    Case(
      title: "`INSERT` after a foreign `ALTER TABLE … RENAME TO` that one of ours has seen",
      before: ["ALTER TABLE t RENAME TO u"], sql: "REPLACE INTO u VALUES (4, 'one', 4)",
      own: "u: delete 1, insert 4", precise: "u: delete 1, insert 4"),
    Case(
      title: "`UPDATE` of a column added by a foreign program, after one of ours has looked",
      before: ["ALTER TABLE t ADD COLUMN c"], sql: "UPDATE t SET c = 1 WHERE id = 1",
      own: "t: update 1 (c)", precise: "t: update 1 (c)"),
    Case(
      title: "`VACUUM`", sql: "VACUUM", library: .vacuum, own: "everything",
      precise: "everything"),
    Case(
      title: "`PRAGMA user_version = …`", sql: "PRAGMA user_version = 7", own: "everything",
      precise: "everything"),
    Case(
      title: "`PRAGMA writable_schema`",
      sql:
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'pair_y'",
      library: .refuses, own: "refused", precise: "everything"),
    Case(
      title: "the same together with an `INSERT`",
      sql:
        "PRAGMA writable_schema = ON; BEGIN; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'pair_y'; INSERT INTO t VALUES (4, 'four', 4); COMMIT",
      library: .refuses, own: "refused", precise: "everything"),
    Case(
      title: "`ANALYZE`", sql: "ANALYZE", library: .refuses, own: "refused", precise: "everything"),
  ]

  private static let file: [Case] = [
    Case(
      title: "restore over the file: `.restore`, the backup API", shell: [".restore '{backup}'"],
      python: """
        source = sqlite3.connect(backup)
        source.backup(db)
        """, library: .none, own: "–", precise: "everything"),
    Case(
      title: "`mv` of another file over it", shell: [".shell mv '{backup}' '{path}'"],
      python: "import os; os.rename(backup, path)", library: .none, own: "–",
      coarse: "error fileReplaced", precise: "error fileReplaced"),
  ]

  private static let adversaries: [Case] = [
    Case(
      title: "`DROP TRIGGER` of one of ours, then `INSERT`",
      sql:
        "DROP TRIGGER IF EXISTS boutiquedb_foreign_insert_t; INSERT INTO t VALUES (4, 'four', 4)",
      library: .refuses, own: "refused", precise: "everything"),
    Case(
      title: "`INSERT` after that, when one of ours has looked",
      before: ["DROP TRIGGER IF EXISTS boutiquedb_foreign_insert_t"],
      sql: "INSERT INTO t VALUES (4, 'four', 4)", own: "t: insert 4", precise: "t: insert 4"),
    Case(
      title: "`DROP TABLE` of the change log, then `INSERT`",
      sql:
        "DROP VIEW turso_cdc; DROP TABLE boutiquedb_cdc; INSERT INTO t VALUES (4, 'four', 4)",
      library: .refuses, own: "refused", precise: "everything"),
    Case(
      title: "`DROP TABLE` of the notes, when one of ours has looked, then `INSERT`",
      before: ["DROP TABLE boutiquedb_foreign"], sql: "INSERT INTO t VALUES (4, 'four', 4)",
      own: "t: insert 4", precise: "t: insert 4"),
    Case(
      title: "triggers switched off by the program",
      shell: [".dbconfig enable_trigger off", "INSERT INTO t VALUES (4, 'four', 4)"],
      python: "",
      library: .none, own: "–", precise: "everything"),
    Case(
      title: "a write through a BLOB handle", before: ["UPDATE t SET b = 'one' WHERE id = 1"],
      shell: [], python: "db.blobopen('t', 'b', 1).write(b'ONE')", library: .none, own: "–",
      precise: "everything"),
    Case(
      title: "`PRAGMA trusted_schema = OFF`, then `REPLACE`",
      sql: "PRAGMA trusted_schema = OFF; REPLACE INTO t VALUES (4, 'one', 4)", library: .none,
      own: "–", precise: "t: delete 1, insert 4"),
    Case(
      title: "`PRAGMA recursive_triggers = ON`, then `REPLACE`",
      sql: "PRAGMA recursive_triggers = ON; REPLACE INTO t VALUES (4, 'one', 4)", library: .none,
      own: "–", precise: "t: delete 1, insert 4"),
  ]
}
