import SQLiteConnection
import Testing

@Suite struct PreupdateTests {
  final class Recorder: PreupdateObserver {
    struct Change: Equatable {
      var kind: PreupdateChange.Kind
      var table: String
      var rowIDs: [Int64]
      var old: [SQLiteValue] = []
      var new: [SQLiteValue] = []
      var depth = 0
      var differs: [Bool] = []
    }
    var changes: [Change] = []
    var databases: Set<String> = []

    func willChange(_ change: borrowing PreupdateChange) {
      let columns = 0..<change.columnCount
      let (old, new) = (change.oldRowID, change.newRowID)
      var record = Change(
        kind: change.kind, table: change.tableName,
        rowIDs: change.kind == .insert ? [new] : change.kind == .delete ? [old] : [old, new],
        depth: change.depth)
      for column in columns {
        if change.kind != .insert { record.old.append(change.oldValue(column)) }
        if change.kind != .delete { record.new.append(change.newValue(column)) }
        if change.kind == .update { record.differs.append(change.columnDiffers(column)) }
      }
      changes.append(record)
      databases.insert(change.databaseName)
      #expect(change.isInMainDatabase == (change.databaseName == "main"))
      #expect(String(cString: change.tableNamePointer) == change.tableName)
    }
  }

  let directory: TemporaryDirectory
  let connection: Connection
  let recorder = Recorder()

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    connection.setPreupdateObserver(recorder)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b REAL)")
    recorder.changes = []
  }

  /// Runs a statement and returns what was told, without the schema table's rows.
  func changes(_ sql: String) throws -> [Recorder.Change] {
    recorder.changes = []
    try connection.execute(sql)
    return recorder.changes.filter { $0.table != "sqlite_master" }
  }

  @Test func `insertions, updates and deletions are told with their values`() throws {
    #expect(
      try changes("INSERT INTO t VALUES (1, 'x', 2.5)") == [
        .init(kind: .insert, table: "t", rowIDs: [1], new: [.integer(1), .text("x"), .real(2.5)])
      ])
    #expect(
      try changes("UPDATE t SET id = 5, a = 'y'") == [
        .init(
          kind: .update, table: "t", rowIDs: [1, 5],
          old: [.integer(1), .text("x"), .real(2.5)], new: [.integer(5), .text("y"), .real(2.5)],
          differs: [true, true, false])
      ])
    #expect(
      try changes("DELETE FROM t WHERE id = 5") == [
        .init(kind: .delete, table: "t", rowIDs: [5], old: [.integer(5), .text("y"), .real(2.5)])
      ])
  }

  @Test(arguments: [
    ("1", "1", false), ("1", "'1'", true), ("1", "1.0", true), ("NULL", "NULL", false),
    ("NULL", "''", true), ("''", "x''", true), ("x''", "zeroblob(0)", false),
    ("'a'", "'A'", true), ("'a' || char(0) || 'b'", "'a' || char(0) || 'c'", true),
    ("zeroblob(3)", "x'000000'", false), ("0.5", "0.25 + 0.25", false),
  ])
  func `a column differs when its type or its bytes do`(
    old: String, new: String, differs: Bool
  ) throws {
    try connection.execute("INSERT INTO t (id, a) VALUES (1, \(old))")
    #expect(try changes("UPDATE t SET a = \(new)").map(\.differs) == [[false, differs, false]])
  }

  @Test(arguments: [
    "INSERT OR REPLACE INTO t VALUES (3, 'x', 0)", "REPLACE INTO t VALUES (3, 'x', 0)",
  ])
  func `a row displaced by REPLACE is told as a deletion`(sql: String) throws {
    try connection.execute("INSERT INTO t VALUES (1, 'x', 0), (2, 'y', 0)")
    let told = try changes(sql)
    #expect(told.map(\.kind) == [.delete, .insert])
    #expect(told.map(\.rowIDs) == [[1], [3]])
  }

  @Test func `a row displaced by an update is told as a deletion`() throws {
    try connection.execute("INSERT INTO t VALUES (1, 'x', 0), (2, 'y', 0)")
    let told = try changes("UPDATE OR REPLACE t SET a = 'y' WHERE id = 1")
    #expect(told.map(\.kind).contains(.delete))
    #expect(told.first { $0.kind == .delete }?.rowIDs == [2])
    #expect(told.contains { $0.kind == .update && $0.rowIDs == [1, 1] })
  }

  @Test func `an upsert is told as an update`() throws {
    try connection.execute("INSERT INTO t VALUES (1, 'x', 0)")
    let told = try changes("INSERT INTO t VALUES (9, 'x', 0) ON CONFLICT (a) DO UPDATE SET b = 4")
    #expect(told.map(\.kind) == [.update])
    #expect(told.map(\.differs) == [[false, false, true]])
  }

  @Test func `deleting every row is told row by row`() throws {
    try connection.execute("INSERT INTO t VALUES (1, 'x', 0), (2, 'y', 0)")
    #expect(try changes("DELETE FROM t").map(\.rowIDs) == [[1], [2]])
  }

  @Test func `deleting every row is told by statements prepared before the observer`() throws {
    connection.setPreupdateObserver(nil)
    try connection.execute("INSERT INTO t VALUES (1, 'x', 0)")
    try connection.prepare("DELETE FROM t").reset()
    connection.setPreupdateObserver(recorder)
    #expect(try changes("DELETE FROM t").map(\.rowIDs) == [[1]])
  }

  @Test func `a table without rowid is told by its columns`() throws {
    try connection.execute("CREATE TABLE k (v, k PRIMARY KEY) WITHOUT ROWID")
    let inserted = try changes("INSERT INTO k VALUES (1, 'key')")
    #expect(inserted.map(\.rowIDs) == [[0]])
    #expect(inserted.first?.new.contains(.text("key")) == true)
    #expect(try changes("UPDATE k SET v = 2").first?.kind != nil)
    let deleted = try changes("DELETE FROM k")
    #expect(deleted.first?.old.contains(.text("key")) == true)
  }

  @Test func `cascades and triggers are told with their depth`() throws {
    try connection.script(
      """
      CREATE TABLE c (t REFERENCES t(id) ON DELETE CASCADE);
      CREATE TABLE log (a);
      CREATE TRIGGER g AFTER DELETE ON c BEGIN INSERT INTO log VALUES (old.t); END;
      INSERT INTO t VALUES (1, 'x', 0);
      INSERT INTO c VALUES (1);
      """)
    let told = try changes("DELETE FROM t")
    #expect(
      told.map { "\($0.kind) \($0.table) \($0.depth)" }
        == ["delete t 0", "delete c 1", "insert log 2"])
  }

  @Test func `temporary and attached databases are told by name`() throws {
    try connection.script(
      "ATTACH ':memory:' AS other; CREATE TEMP TABLE d (a); CREATE TABLE other.o (a)")
    recorder.databases = []
    try connection.script(
      "INSERT INTO d VALUES (1); INSERT INTO o VALUES (1); INSERT INTO t (a) VALUES (1)")
    #expect(recorder.databases == ["temp", "other", "main"])
  }

  @Test func `a full text table is told by its shadow tables`() throws {
    try connection.execute("CREATE VIRTUAL TABLE f USING fts5(a)")
    let told = try changes("INSERT INTO f VALUES ('x')")
    #expect(!told.isEmpty)
    #expect(told.allSatisfy { $0.table.hasPrefix("f_") })
  }

  @Test func `no observer hears nothing`() throws {
    connection.setPreupdateObserver(nil)
    #expect(try changes("INSERT INTO t VALUES (1, 'x', 0)") == [])
  }
}
