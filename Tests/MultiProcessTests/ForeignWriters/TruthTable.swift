/// What of each statement the change feed of another open database says, by who ran it.
///
/// `docs/truth-table.md` is this table as a page; a test holds the two together.
enum TruthTable {
  /// The tables that a statement finds.
  enum Tables: String, Sendable, CaseIterable {
    /// Ordinary tables.
    case ordinary
    /// A full-text table, one with outside content, an R-Tree, and an ordinary table.
    case virtual

    var sql: String {
      switch self {
      case .ordinary: ordinaryTables
      case .virtual: virtualTables
      }
    }
  }

  /// How the library is made to do what a foreign program does with the statement.
  enum Library: Sendable {
    /// In a write.
    case write
    /// By `vacuum()`.
    case vacuum
    /// A write refuses it.
    case refuses
    /// It has no such call.
    case none
  }

  struct Case: Sendable {
    /// What the page calls it, in Markdown.
    var title: String
    var tables = Tables.ordinary
    /// Commits of a foreign program that have been seen before.
    var before: [String] = []
    /// What is run.
    ///
    /// The shell and Python get it as a script.
    var sql = ""
    /// Arguments for the shell instead; `{backup}` is the path of a copy made before.
    var shell: [String]?
    /// Lines of Python instead; `db` is a connection, `backup` the path of a copy made before.
    var python: String?
    var library = Library.write
    /// What the feed says when the library ran it, whatever the setting.
    var own: String
    /// What it says of a foreign program, with `foreignCapture` coarse.
    var coarse = "everything"
    /// What it says of a foreign program, with `foreignCapture` precise.
    var precise: String
  }

  private static let ordinaryTables = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b);
    INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
    CREATE TABLE pair (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y TEXT);
    CREATE UNIQUE INDEX pair_y ON pair (y COLLATE NOCASE);
    INSERT INTO pair VALUES (1, 'x1', 'y1'), (2, 'x2', 'y2'), (3, 'x3', 'y3');
    CREATE TABLE part (id INTEGER PRIMARY KEY, a, gone);
    CREATE UNIQUE INDEX part_a ON part (a) WHERE gone IS NULL;
    INSERT INTO part VALUES (1, 'a', NULL);
    CREATE TABLE plain (a);
    INSERT INTO plain (rowid, a) VALUES (7, 'x'), (8, 'y');
    CREATE TABLE named (name TEXT PRIMARY KEY, v);
    INSERT INTO named (rowid, name, v) VALUES (5, 'n', 1);
    CREATE TABLE w (k TEXT, n INTEGER, v UNIQUE, PRIMARY KEY (k, n)) WITHOUT ROWID;
    INSERT INTO w VALUES ('k', 1, 'v'), ('k', 2, 'u');
    CREATE TABLE firm (n INTEGER PRIMARY KEY, v INTEGER NOT NULL) STRICT;
    INSERT INTO firm VALUES (1, 1);
    CREATE TABLE made (id INTEGER PRIMARY KEY, a, s AS (a || '!') STORED UNIQUE, v AS (a || '?'));
    INSERT INTO made (id, a) VALUES (1, 'a'), (2, 'b');
    CREATE TABLE filled (id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'x' UNIQUE);
    INSERT INTO filled VALUES (1, 'x');
    CREATE TABLE parent (id INTEGER PRIMARY KEY, code UNIQUE);
    CREATE TABLE child (id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE TABLE orphan (id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parent (id) ON DELETE SET NULL ON UPDATE CASCADE);
    CREATE TABLE late (id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO parent VALUES (1, 'p'), (2, 'q');
    INSERT INTO child VALUES (10, 1), (11, 1);
    INSERT INTO orphan VALUES (20, 1);
    CREATE TABLE journal (id INTEGER PRIMARY KEY, text);
    CREATE TABLE watched (id INTEGER PRIMARY KEY, v);
    INSERT INTO watched VALUES (1, 1);
    CREATE TRIGGER watched_insert AFTER INSERT ON watched
      BEGIN INSERT INTO journal (text) VALUES ('new ' || new.id); UPDATE t SET b = 0 WHERE id = 1; END;
    CREATE TRIGGER watched_update BEFORE UPDATE ON watched
      BEGIN DELETE FROM plain WHERE rowid = 7; END;
    CREATE VIEW shown AS SELECT id, a FROM t;
    CREATE TRIGGER shown_insert INSTEAD OF INSERT ON shown
      BEGIN INSERT INTO t (id, a) VALUES (new.id, new.a); END;
    CREATE TABLE "it's ""odd"".name" (id INTEGER PRIMARY KEY, "a.b" UNIQUE);
    CREATE TABLE "select" ("from" TEXT PRIMARY KEY, "where") WITHOUT ROWID;
    CREATE TABLE "Größe" ("Maß" UNIQUE);
    CREATE TABLE boutiquedb_mine (id INTEGER PRIMARY KEY);
    CREATE TABLE hidden (rowid, _rowid_, oid);
    """

  private static let virtualTables = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b);
    CREATE VIRTUAL TABLE note USING fts5 (body);
    CREATE TABLE article (id INTEGER PRIMARY KEY, body);
    CREATE VIRTUAL TABLE found USING fts5 (body, content = 'article', content_rowid = 'id');
    CREATE VIRTUAL TABLE box USING rtree (id, x0, x1);
    """
}
