import SQLiteConnection
import Testing

@Suite struct ReadSetTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    try connection.script(
      """
      CREATE TABLE person (
        id INTEGER PRIMARY KEY, name, team REFERENCES team(id) ON DELETE CASCADE);
      CREATE TABLE team (id INTEGER PRIMARY KEY, name, colour);
      CREATE TABLE log (entry);
      CREATE TABLE keyed (k PRIMARY KEY, v) WITHOUT ROWID;
      CREATE VIEW member AS
        SELECT person.name AS person, team.name AS team FROM person JOIN team ON team.id = team;
      CREATE TRIGGER watch AFTER UPDATE OF name ON person BEGIN
        INSERT INTO log SELECT colour FROM team WHERE id = new.team;
      END;
      CREATE TEMP TABLE draft (text);
      CREATE VIRTUAL TABLE note USING fts5(body);
      """)
    try connection.execute("ATTACH ':memory:' AS other")
    try connection.script("CREATE TABLE other.thing (a); CREATE TABLE other.log (entry)")
  }

  @Test(
    arguments: [
      ("SELECT 1", [:]),
      ("SELECT name FROM person", ["person": ["name"]]),
      ("SELECT NAME FROM PERSON", ["person": ["name"]]),
      ("SELECT * FROM log", ["log": ["entry"]]),
      ("SELECT rowid FROM log", ["log": ["ROWID"]]),
      ("SELECT rowid FROM person", ["person": ["id"]]),
      ("SELECT count(*) FROM team", ["team": []]),
      ("SELECT count(*) FROM TEAM", ["team": []]),
      ("SELECT 1 FROM MAIN.Team LIMIT 1", ["team": []]),
      ("SELECT count(*) FROM MEMBER", ["person": ["name", "team"], "team": ["id", "name"]]),
      ("SELECT 1 FROM team t WHERE EXISTS (SELECT 1 FROM log)", ["team": [], "log": []]),
      (
        "SELECT p.name FROM person p JOIN team t ON t.id = p.team WHERE t.colour = 'red'",
        ["person": ["name", "team"], "team": ["id", "colour"]]
      ),
      (
        "SELECT person FROM member",
        ["member": ["person"], "person": ["name", "team"], "team": ["id", "name"]]
      ),
      (
        "WITH c AS (SELECT name FROM team) SELECT * FROM c WHERE name IN (SELECT entry FROM log)",
        ["team": ["name"], "log": ["entry"]]
      ),
      ("SELECT (SELECT max(v) FROM keyed)", ["keyed": ["v"]]),
      ("SELECT name FROM team UNION SELECT entry FROM log", ["team": ["name"], "log": ["entry"]]),
      ("SELECT name FROM person ORDER BY team", ["person": ["name", "team"]]),
      ("SELECT text FROM draft", ["temp.draft": ["text"]]),
      ("SELECT count(*) FROM draft", ["temp.draft": []]),
      ("SELECT count(*) FROM Draft", ["temp.draft": []]),
      ("SELECT a FROM thing", ["other.thing": ["a"]]),
      ("SELECT count(*) FROM thing", ["other.thing": []]),
      ("SELECT count(*) FROM other.log", ["other.log": []]),
      ("SELECT entry FROM other.log", ["other.log": ["entry"]]),
      ("SELECT value FROM json_each('[1]')", ["json_each": ["value"]]),
      ("SELECT name FROM sqlite_master", ["sqlite_master": ["name"]]),
      ("DELETE FROM log", [:]),
      ("UPDATE log SET entry = 1 WHERE entry = 2", ["log": ["entry"]]),
    ] as [(String, [String: Set<String>])])
  func `a query reads what it names`(sql: String, expected: [String: Set<String>]) throws {
    let statement = try connection.prepare(sql)
    #expect(statement.readSet.tables == expected)
    statement.reset()
  }

  @Test func `a trigger's reads and writes count`() throws {
    let statement = try connection.prepare("UPDATE person SET name = 'x'")
    #expect(statement.readSet.tables["team"] == ["id", "colour"])
    #expect(statement.effects.writtenTables == ["person", "log"])
    statement.reset()
  }

  @Test func `foreign key actions count as writes`() throws {
    let statement = try connection.prepare("DELETE FROM team WHERE id = 1")
    #expect(statement.effects.writtenTables == ["team", "person"])
    statement.reset()
  }

  @Test func `a full text search reads its virtual table`() throws {
    let statement = try connection.prepare("SELECT body FROM note WHERE note MATCH 'x'")
    #expect(statement.readSet.tables["note"]?.contains("body") == true)
    statement.reset()
    let count = try connection.prepare("SELECT count(*) FROM note")
    #expect(count.readSet.tables["note"] != nil)
    count.reset()
  }

  @Test func `a virtual table that compiles statements while it runs adds nothing later`() throws {
    let sql = "SELECT body FROM note WHERE note MATCH 'x'"
    let statement = try connection.prepare(sql)
    let before = statement.readSet
    try connection.execute("INSERT INTO note VALUES ('x y')")
    try statement.run()
    #expect(statement.readSet == before)
    let next = try connection.prepare("SELECT 2")
    #expect(next.readSet.isEmpty)
    next.reset()
  }

  @Test(arguments: [
    "SELECT a FROM full WHERE full MATCH 'x'", "SELECT a FROM older", "SELECT a FROM space",
    "SELECT value AS a FROM json_each('[1]')", "EXPLAIN SELECT a FROM full",
    "INSERT INTO full VALUES ('y')",
  ])
  func `connecting a virtual table is no effect of the statement that did it`(sql: String) throws {
    try connection.script(
      """
      CREATE VIRTUAL TABLE full USING fts5(a);
      CREATE VIRTUAL TABLE older USING fts4(a);
      CREATE VIRTUAL TABLE space USING rtree(id, a, b);
      INSERT INTO full VALUES ('x');
      """)
    let fresh = try directory.open { $0.access = .readWrite }
    fresh.setPragmaPolicy { _, _ in false }
    let statement = try fresh.prepare(sql)
    #expect(statement.effects.isPlain)
    #expect(statement.effects.pragma == nil)
    #expect(statement.effects.writtenTables.isSubset(of: ["full"]))
    #expect(
      Set(statement.readSet.tables.keys).isSubset(of: ["full", "older", "space", "json_each"]))
    try statement.run()
    // Another connection changes the schema, and the virtual table is connected anew.
    try connection.execute("CREATE TABLE more (a)")
    let again = try fresh.prepare(sql)
    try again.run()
    #expect(again.effects.isPlain)
    #expect(again.effects.writtenTables.isSubset(of: ["full"]))
    #expect(Set(again.readSet.tables.keys).isSubset(of: ["full", "older", "space", "json_each"]))
  }

  @Test func `read sets are united column by column`() {
    var set = ReadSet(tables: ["a": ["x"], "b": []])
    set.formUnion(ReadSet(tables: ["a": ["y"], "c": []]))
    #expect(set.tables == ["a": ["x", "y"], "b": [], "c": []])
  }
}
