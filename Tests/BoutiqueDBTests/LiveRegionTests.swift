import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

/// Which changes make a live query run, and which do not.
@Suite struct LiveRegionTests {
  /// One query, what may happen without a run, and what may not.
  struct Case: CustomTestStringConvertible, Sendable {
    var query: String
    var arguments: [SQLValue] = []
    var quiet: [String] = []
    var heard: [String] = []
    var testDescription: String { query }
  }

  static let schema = """
    CREATE TABLE note (
      id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT, body TEXT, pinned INTEGER DEFAULT 0,
      size INTEGER GENERATED ALWAYS AS (length(body)) STORED);
    CREATE INDEX note_pinned ON note (pinned);
    CREATE TABLE ticket (id TEXT PRIMARY KEY NOT NULL, title TEXT, uses INTEGER);
    CREATE TABLE loan (
      book INTEGER, reader TEXT, day INTEGER, PRIMARY KEY (book, reader)) WITHOUT ROWID;
    CREATE TABLE lax (name TEXT PRIMARY KEY COLLATE NOCASE, n);
    CREATE TABLE virtual_one (id INTEGER PRIMARY KEY, a TEXT, b TEXT, twice AS (a || a), c TEXT);
    CREATE TABLE other (id INTEGER PRIMARY KEY, note INTEGER, v TEXT);
    CREATE VIEW titles AS SELECT id, title FROM note WHERE pinned >= 0;
    INSERT INTO note (id, slug, title, body) VALUES
      (1, 'one', 'One', 'b1'), (2, 'two', 'Two', 'b2'), (3, 'three', 'Three', 'b3');
    INSERT INTO ticket VALUES ('a', 'A', 1), ('b', 'B', 1);
    INSERT INTO loan VALUES (1, 'x', 1), (1, 'y', 2), (2, 'x', 3);
    INSERT INTO lax VALUES ('Anna', 1), ('Bert', 2);
    INSERT INTO virtual_one (id, a, b, c) VALUES (1, 'a', 'b', 'c');
    INSERT INTO other VALUES (1, 1, 'v'), (2, 2, 'w');
    """

  static let cases: [Case] = [
    // Tables and columns.
    Case(
      query: "SELECT title FROM note WHERE pinned = 0",
      quiet: [
        "UPDATE other SET v = 'z'", "UPDATE note SET body = 'z' WHERE id = 1",
        "UPDATE note SET slug = 'z' WHERE id = 1",
      ],
      heard: [
        "UPDATE note SET title = 'z' WHERE id = 3", "UPDATE note SET pinned = 1 WHERE id = 3",
        "DELETE FROM note WHERE id = 3", "INSERT INTO note (title) VALUES ('new')",
        "UPDATE note SET id = 30 WHERE id = 3", "REPLACE INTO note (id, slug) VALUES (9, 'one')",
        "DELETE FROM note",
      ]),
    Case(
      query: "SELECT count(*) FROM note",
      quiet: ["UPDATE note SET title = 'z', body = 'y', pinned = 7", "DELETE FROM other"],
      heard: ["DELETE FROM note WHERE id = 1", "INSERT INTO note (title) VALUES ('new')"]),
    // Ranges of row ids; an end that is not in it counts as if it were.
    Case(
      query: "SELECT title FROM note WHERE id BETWEEN ? AND ? ORDER BY id", arguments: [2, 5],
      quiet: [
        "UPDATE note SET title = 'z' WHERE id = 1", "DELETE FROM note WHERE id = 1",
        "INSERT INTO note (id, title) VALUES (7, 'seven'), (1000, 'far')",
        "UPDATE note SET id = 8 WHERE id = 7", "UPDATE note SET body = 'z' WHERE id = 2",
      ],
      heard: [
        "UPDATE note SET title = 'z' WHERE id = 2", "DELETE FROM note WHERE id = 3",
        "INSERT INTO note (id, title) VALUES (4, 'four')", "UPDATE note SET id = 7 WHERE id = 3",
        "UPDATE note SET id = 5 WHERE id = 1", "DELETE FROM note",
      ]),
    Case(
      query: "SELECT count(*) FROM note WHERE id > ? AND id < 6", arguments: [1.5],
      quiet: ["INSERT INTO note (id) VALUES (9), (7)", "UPDATE note SET title = 'z'"],
      heard: ["DELETE FROM note WHERE id = 2", "INSERT INTO note (id) VALUES (5)"]),
    Case(
      query: "SELECT id, title FROM note WHERE id <= ? ORDER BY id DESC LIMIT 2", arguments: [2],
      quiet: ["INSERT INTO note (id) VALUES (10)", "UPDATE note SET title = 'z' WHERE id = 3"],
      heard: ["INSERT INTO note (id) VALUES (-5)", "UPDATE note SET title = 'z' WHERE id = 1"]),
    Case(
      query: "SELECT title FROM note WHERE id < 2 OR id > 8",
      heard: ["INSERT INTO note (id, title) VALUES (9, 'n')"]),
    Case(
      query: """
        SELECT other.v, note.title FROM other LEFT JOIN note ON note.id > 2 AND note.id < 5
        """,
      quiet: ["UPDATE note SET title = 'z' WHERE id = 1", "INSERT INTO note (id) VALUES (6)"],
      heard: [
        "UPDATE note SET title = 'z' WHERE id = 3", "DELETE FROM note WHERE id = 3",
        "INSERT INTO note (id) VALUES (4)",
      ]),
    // A text is a number to SQLite if it looks like one; an end that comes from another table is not known.
    Case(
      query: "SELECT title FROM note WHERE id < ?", arguments: ["2"],
      heard: ["UPDATE note SET title = 'z' WHERE id = 3"]),
    Case(
      query: "SELECT note.title FROM other, note WHERE other.id = 1 AND note.id < other.note",
      heard: ["UPDATE note SET title = 'z' WHERE id = 3"]),
    Case(
      query: "SELECT * FROM note",
      heard: ["UPDATE note SET pinned = 7 WHERE id = 2", "UPDATE note SET body = 'z' WHERE id = 1"]),
    Case(
      query: "SELECT id FROM note ORDER BY title",
      quiet: ["UPDATE note SET body = 'z'"], heard: ["UPDATE note SET title = 'A' WHERE id = 3"]),
    Case(
      query: "SELECT v FROM other JOIN note ON note.id = other.note AND note.pinned = 0",
      quiet: ["UPDATE note SET title = 'z'"],
      heard: ["UPDATE note SET pinned = 1 WHERE id = 1", "UPDATE other SET note = 3 WHERE id = 1"]),
    Case(
      query: "SELECT title FROM titles", quiet: ["UPDATE note SET body = 'z'"],
      heard: ["UPDATE note SET pinned = -1 WHERE id = 1", "UPDATE note SET title = 'z'"]),
    Case(
      query: "WITH big AS (SELECT title FROM note WHERE size > 2) SELECT count(*) FROM big",
      quiet: ["UPDATE note SET slug = 'z' WHERE id = 1"],
      // A column that SQLite computes from another.
      heard: ["UPDATE note SET body = 'long' WHERE id = 1"]),
    Case(
      query: "SELECT twice FROM virtual_one", quiet: ["UPDATE note SET body = 'z'"],
      heard: ["UPDATE virtual_one SET a = 'z'"]),
    Case(
      query: "SELECT rowid FROM other", quiet: ["UPDATE other SET v = 'z'"],
      heard: ["UPDATE other SET id = 20 WHERE id = 2"]),
    Case(
      query: "SELECT 1 FROM other WHERE EXISTS (SELECT 1 FROM note WHERE slug = other.v)",
      quiet: ["UPDATE note SET title = 'z'"], heard: ["UPDATE note SET slug = 'w' WHERE id = 1"]),
    // Single rows by row id.
    Case(
      query: "SELECT title FROM note WHERE id = ?", arguments: [1],
      quiet: [
        "UPDATE note SET title = 'z' WHERE id = 2", "UPDATE note SET body = 'z' WHERE id = 1",
        "DELETE FROM note WHERE id = 3", "INSERT INTO note (title) VALUES ('new')",
      ],
      heard: [
        "UPDATE note SET title = 'z' WHERE id = 1", "DELETE FROM note WHERE id = 1",
        "UPDATE note SET id = 10 WHERE id = 1", "UPDATE note SET title = 'z'",
        "REPLACE INTO note (id, slug) VALUES (8, 'one')", "DELETE FROM note",
      ]),
    Case(
      query: "SELECT * FROM note WHERE id = ?", arguments: [77],
      quiet: [
        "UPDATE note SET title = 'z' WHERE id = 2", "INSERT INTO note (title) VALUES ('new')",
      ],
      heard: [
        "INSERT INTO note (id, title) VALUES (77, 'new')", "UPDATE note SET id = 77 WHERE id = 2",
      ]),
    Case(
      query: "SELECT * FROM note WHERE id = ?", arguments: [1.0],
      quiet: ["UPDATE note SET title = 'z' WHERE id = 2"],
      heard: ["UPDATE note SET title = 'z' WHERE id = 1"]),
    Case(
      query: "SELECT * FROM note WHERE id = ?", arguments: ["1"],
      heard: ["UPDATE note SET title = 'z' WHERE id = 1"]),
    Case(
      query: "SELECT title FROM note WHERE id = 2 AND pinned = 0 AND length(title) > 1",
      quiet: ["UPDATE note SET title = 'z' WHERE id = 1"],
      heard: ["UPDATE note SET pinned = 1 WHERE id = 2"]),
    Case(
      query: "SELECT title FROM note WHERE id IN (?, ?) AND length(title) > 1 ORDER BY title",
      arguments: [1, 3],
      quiet: [
        "UPDATE note SET title = 'zz' WHERE id = 2", "INSERT INTO note (title) VALUES ('new')",
      ],
      heard: ["UPDATE note SET title = 'zz' WHERE id = 3", "DELETE FROM note WHERE id = 1"]),
    Case(
      query: "SELECT title FROM note WHERE id = 1 OR id = 3",
      quiet: ["UPDATE note SET title = 'zz' WHERE id = 2"],
      heard: ["UPDATE note SET title = 'zz' WHERE id = 3"]),
    Case(
      query: "SELECT count(*), max(title) FROM note WHERE id = 1",
      quiet: ["UPDATE note SET title = 'zz' WHERE id = 2"],
      heard: ["UPDATE note SET title = 'zz' WHERE id = 1"]),
    Case(
      query: "SELECT title FROM titles WHERE id = 1",
      quiet: ["UPDATE note SET title = 'zz' WHERE id = 2"],
      heard: ["UPDATE note SET title = 'zz' WHERE id = 1"]),
    Case(
      query: "SELECT v FROM other JOIN note ON note.id = 1 AND other.note = note.id",
      quiet: ["UPDATE note SET id = 20 WHERE id = 2"],
      heard: ["UPDATE other SET v = 'zz' WHERE id = 1", "UPDATE note SET id = 10 WHERE id = 1"]),
    // Two cursors on the table: all of it.
    Case(
      query: "SELECT title, (SELECT max(pinned) FROM note) FROM note WHERE id = 1",
      quiet: ["UPDATE note SET body = 'z'"], heard: ["UPDATE note SET pinned = 9 WHERE id = 2"]),
    Case(
      query: "SELECT a.title FROM note a JOIN note b ON b.pinned = a.pinned WHERE a.id = 1",
      heard: ["UPDATE note SET pinned = 9 WHERE id = 2"]),
    Case(
      query: "SELECT title FROM note WHERE id = (SELECT note FROM other WHERE id = 1)",
      quiet: ["UPDATE other SET note = 3 WHERE id = 2"],
      heard: ["UPDATE note SET title = 'z' WHERE id = 1", "UPDATE other SET note = 3 WHERE id = 1"]),
    Case(
      query: "SELECT title FROM note WHERE id = ? OR pinned = 1", arguments: [1],
      heard: ["UPDATE note SET pinned = 1 WHERE id = 2"]),
    Case(
      query: "SELECT title FROM note WHERE id >= ? AND id <= ?", arguments: [1, 1],
      heard: ["UPDATE note SET title = 'z' WHERE id = 1"]),
    Case(
      query: "SELECT title FROM note WHERE id = 1 UNION ALL SELECT v FROM other",
      quiet: ["UPDATE note SET title = 'zz' WHERE id = 2"],
      heard: ["UPDATE note SET title = 'zz' WHERE id = 1", "UPDATE other SET v = 'z'"]),
    // Single rows by a unique column.
    Case(
      query: "SELECT title FROM note WHERE slug = ?", arguments: ["one"],
      quiet: [
        "UPDATE note SET title = 'z' WHERE id = 2", "INSERT INTO note (slug) VALUES ('four')",
        "UPDATE note SET slug = 'zwei' WHERE id = 2",
      ],
      heard: [
        "UPDATE note SET title = 'z' WHERE id = 1", "UPDATE note SET slug = 'z' WHERE id = 1",
        "REPLACE INTO note (id, slug) VALUES (9, 'one')", "UPDATE note SET id = 9 WHERE id = 1",
      ]),
    Case(
      query: "SELECT title FROM note WHERE slug = ?", arguments: ["none"],
      quiet: ["UPDATE note SET title = 'z'", "DELETE FROM note WHERE id = 1"],
      heard: [
        "INSERT INTO note (slug) VALUES ('none')", "UPDATE note SET slug = 'none' WHERE id = 2",
      ]
    ),
    Case(
      query: "SELECT title FROM ticket WHERE id = ?", arguments: ["a"],
      quiet: [
        "UPDATE ticket SET title = 'z' WHERE id = 'b'", "INSERT INTO ticket VALUES ('c', 'C', 1)",
      ],
      heard: [
        "UPDATE ticket SET title = 'z' WHERE id = 'a'", "DELETE FROM ticket WHERE id = 'a'",
        "REPLACE INTO ticket VALUES ('a', 'Z', 1)", "UPDATE ticket SET id = 'z' WHERE id = 'a'",
      ]),
    Case(
      query: "SELECT title FROM ticket WHERE id IN (?, ?)", arguments: ["a", "b"],
      quiet: ["UPDATE ticket SET uses = 9", "INSERT INTO ticket VALUES ('c', 'C', 1)"],
      heard: ["UPDATE ticket SET title = 'z' WHERE id = 'b'"]),
    Case(
      query: "SELECT day FROM loan WHERE book = ? AND reader = ?", arguments: [1, "x"],
      quiet: ["UPDATE loan SET day = 9 WHERE reader = 'y'", "INSERT INTO loan VALUES (7, 'x', 1)"],
      heard: [
        "UPDATE loan SET day = 9 WHERE book = 1 AND reader = 'x'",
        "DELETE FROM loan WHERE book = 1", "UPDATE loan SET reader = 'z' WHERE reader = 'x'",
      ]),
    Case(
      query: "SELECT day FROM loan WHERE book = ? AND reader = ?", arguments: [5, "x"],
      quiet: ["UPDATE loan SET day = 9"],
      heard: ["INSERT INTO loan VALUES (5, 'x', 1)", "UPDATE loan SET book = 5 WHERE book = 2"]),
    // Half of the key, or another comparison: all rows.
    Case(
      query: "SELECT day FROM loan WHERE book = ?", arguments: [1],
      heard: ["INSERT INTO loan VALUES (1, 'z', 1)"]),
    Case(
      query: "SELECT n FROM lax WHERE name = ?", arguments: ["ANNA"],
      heard: ["UPDATE lax SET n = 9 WHERE name = 'Anna'"]),
    Case(
      query: "SELECT title FROM ticket WHERE id = ? COLLATE NOCASE", arguments: ["A"],
      heard: ["UPDATE ticket SET title = 'z' WHERE id = 'a'"]),
    Case(
      query: "SELECT title FROM ticket WHERE id = ?", arguments: [.null],
      quiet: ["UPDATE ticket SET uses = 9"]),
  ]

  @Test(arguments: cases)
  func `a change runs the queries that it touches and no others`(_ one: Case) async throws {
    // Each change on a fresh database, so that none is hidden by an earlier one.
    for (change, isHeard) in one.quiet.map({ ($0, false) }) + one.heard.map({ ($0, true) }) {
      let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
      try await db.write { try $0.executeScript(Self.schema) }
      let runs = Atomic(0)
      var values = db.observe { conn in
        runs.add(1, ordering: .relaxed)
        return try conn.query(one.query, arguments: one.arguments).map(\.values)
      }.makeAsyncIterator()
      let before = try await values.next()
      try await db.write { _ = try $0.execute(change) }
      #expect(values.isCurrent == !isHeard, "\(change)")
      #expect(runs.load(ordering: .relaxed) == 1)
      if !isHeard {
        let after = try await db.read {
          try $0.query(one.query, arguments: one.arguments).map(\.values)
        }
        #expect(after == before, "\(change)")
      }
      await db.close()
    }
  }

  @Test func `a change outside of the region costs no run, through files too`() async throws {
    try await withTestDatabase(configuration: ObservationTests.hourPoll) { db, _ in
      try await db.write { try $0.executeScript(Self.schema) }
      let other = try await BoutiqueDB.open(path: db.path)
      let runs = Atomic(0)
      var values = db.observe { conn in
        runs.add(1, ordering: .relaxed)
        return try conn.query("SELECT title FROM note WHERE id = 1").map(\.values)
      }.makeAsyncIterator()
      #expect(try await values.next() == [["One"]])
      for change in [
        "UPDATE other SET v = 'z'", "UPDATE note SET body = 'z' WHERE id = 1",
        "UPDATE note SET title = 'z' WHERE id = 2", "INSERT INTO note (title) VALUES ('new')",
        "UPDATE note SET title = 'Eins' WHERE id = 1",
      ] {
        try await other.write { _ = try $0.execute(change) }
      }
      #expect(try await values.next() == [["Eins"]])
      #expect(runs.load(ordering: .relaxed) == 2)
      await other.close()
    }
  }

  @Test func `a query that is chosen by the result of another follows the last choice`()
    async throws
  {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { try $0.executeScript(Self.schema) }
    var values = db.observe { conn -> SQLValue in
      let pinned = try conn.query("SELECT pinned FROM note WHERE id = 1")[0][0]
      let second =
        pinned == 0 ? "SELECT title FROM ticket WHERE id = 'a'" : "SELECT v FROM other WHERE id = 2"
      return try conn.query(second)[0][0]
    }.makeAsyncIterator()
    #expect(try await values.next() == "A")
    try await db.write { _ = try $0.execute("UPDATE other SET v = 'z'") }
    #expect(values.isCurrent)
    try await db.write { _ = try $0.execute("UPDATE note SET pinned = 1 WHERE id = 1") }
    #expect(try await values.next() == "z")
    try await db.write { _ = try $0.execute("UPDATE ticket SET title = 'Z'") }
    #expect(values.isCurrent)
    try await db.write { _ = try $0.execute("UPDATE other SET v = 'y' WHERE id = 2") }
    #expect(try await values.next() == "y")
    await db.close()
  }

  @Test func `more keys than are worth remembering are all rows`() async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { try $0.executeScript(Self.schema) }
    var values = db.observe { conn in
      let query = try conn.prepare("SELECT title FROM note WHERE id = ?")
      return try (1...3000).reduce(0) { try $0 + query.rows($1).count }
    }.makeAsyncIterator()
    #expect(try await values.next() == 3)
    try await db.write { _ = try $0.execute("INSERT INTO note (id) VALUES (3000)") }
    #expect(try await values.next() == 4)
    await db.close()
  }
}
