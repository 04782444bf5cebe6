import Foundation
import SQLiteConnection
import Testing

@Suite struct BackupTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    try connection.script(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a);
      INSERT INTO t (a)
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
        SELECT zeroblob(2000) FROM n;
      """)
  }

  /// The files beside the source's.
  var others: [String] { directory.names.filter { !$0.hasPrefix("test.db") } }

  func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions]
      as? Int
  }

  @Test func `a backup is one whole file that can be read without writing`() throws {
    try connection.backup(to: directory.file("copy.db"), fileMode: nil, progress: nil)
    #expect(others == ["copy.db"])
    let copy = try directory.open("copy.db") { $0.access = .readOnly }
    #expect(try copy.queryText("PRAGMA integrity_check") == "ok")
    #expect(try copy.queryInt64("SELECT count(*) FROM t") == 2000)
    #expect(try copy.queryText("PRAGMA journal_mode") == "delete")
    copy.close()
    #expect(others == ["copy.db"])
    #expect(!connection.isInTransaction && !connection.hasBusyStatement())
    #expect(try connection.queryText("PRAGMA journal_mode") == "wal")
  }

  @Test func `a backup ends and is one snapshot while another connection commits all the time`()
    throws
  {
    let path = directory.file()
    let started = Shared(0)
    let stop = Shared(false)
    let failure = Shared<String?>(nil)
    let thread = Background {
      do {
        let writer = try Connection(path: path, options: ConnectionOptions())
        while !stop.get() {
          // Every commit touches the first and the last rows; both sums are always equal.
          try writer.execute("UPDATE t SET a = \(started.get()) WHERE id IN (1, 2000)")
          started.update { $0 += 1 }
        }
      } catch {
        failure.update { $0 = "\(error)" }
      }
    }
    while started.get() == 0, failure.get() == nil {}
    var steps = 0
    var commitsAtStep: [Int] = []
    var remainders: [Int] = []
    try connection.backup(to: directory.file("copy.db"), fileMode: nil) { remaining, total in
      steps += 1
      remainders.append(remaining)
      #expect(total > 500)
      // The writer commits between any two steps.
      let before = started.get()
      while started.get() == before, failure.get() == nil {}
      commitsAtStep.append(started.get())
      // A backup that begins anew after each commit would never end.
      return steps < 100
    }
    stop.update { $0 = true }
    #expect(thread.join())
    #expect(failure.get() == nil)
    #expect(steps > 1)
    #expect(remainders == remainders.sorted(by: >))
    let copy = try directory.open("copy.db") { $0.access = .readOnly }
    #expect(try copy.queryText("PRAGMA integrity_check") == "ok")
    #expect(try copy.queryInt64("SELECT count(DISTINCT a) FROM t WHERE id IN (1, 2000)") == 1)
    let snapshot = try #require(try copy.queryInt64("SELECT a FROM t WHERE id = 1"))
    #expect(snapshot < Int64(commitsAtStep[0]))
  }

  @Test func `a cancelled backup leaves nothing`() throws {
    let error = sqliteError {
      try connection.backup(to: directory.file("copy.db"), fileMode: nil) { _, _ in false }
    }
    #expect(error?.code == .interrupt)
    #expect(others == [])
    #expect(!connection.isInTransaction)
    try connection.execute("DELETE FROM t")
  }

  @Test func `an existing destination is kept unless told`() throws {
    try Data("precious".utf8).write(to: URL(fileURLWithPath: directory.file("copy.db")))
    let error = sqliteError {
      try connection.backup(to: directory.file("copy.db"), fileMode: nil, progress: nil)
    }
    #expect(error?.code == .cantOpen)
    #expect(error?.message.contains("exists already") == true)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: directory.file("copy.db"))) == Data("precious".utf8)
    )
    try connection.backup(to: directory.file("copy.db"), fileMode: nil, overwrite: true)
    #expect(others == ["copy.db"])
    let copy = try directory.open("copy.db") { $0.access = .readOnly }
    #expect(try copy.queryInt64("SELECT count(*) FROM t") == 2000)
  }

  @Test func `a destination that comes meanwhile is kept`() throws {
    let destination = directory.file("copy.db")
    let error = sqliteError {
      try connection.backup(to: destination, fileMode: nil) { _, _ in
        FileManager.default.createFile(atPath: destination, contents: Data("precious".utf8))
      }
    }
    #expect(error?.systemError == EEXIST)
    #expect(try Data(contentsOf: URL(fileURLWithPath: destination)) == Data("precious".utf8))
    #expect(others == ["copy.db"])
  }

  @Test(arguments: ["-wal", "-journal"])
  func `a destination with a log or journal beside it is refused`(suffix: String) throws {
    try Data().write(to: URL(fileURLWithPath: directory.file("copy.db\(suffix)")))
    for overwrite in [false, true] {
      let error = sqliteError {
        try connection.backup(to: directory.file("copy.db"), fileMode: nil, overwrite: overwrite)
      }
      #expect(error?.message.contains("\(suffix) file beside it") == true)
    }
    #expect(others == ["copy.db\(suffix)"])
  }

  @Test func `the database itself is refused as its backup`() throws {
    _ = try connection.queryText("PRAGMA journal_mode = DELETE")
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link.db"), withDestinationPath: directory.file())
    for name in ["test.db", "link.db"] {
      let error = sqliteError {
        try connection.backup(to: directory.file(name), fileMode: nil, overwrite: true)
      }
      #expect(error?.message.contains("the database itself") == true)
    }
  }

  @Test func `a directory that is not there is an error that says so`() {
    let error = sqliteError {
      try connection.backup(to: directory.file("none/copy.db"), fileMode: nil, progress: nil)
    }
    #expect(error?.code == .cantOpen)
    #expect(error?.systemError == ENOENT)
    #expect(!connection.isInTransaction)
  }

  @Test func `the mode is the one told, or the source's`() throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: directory.file())
    try connection.backup(to: directory.file("same.db"), fileMode: nil, progress: nil)
    #expect(try mode("same.db") == 0o640)
    try connection.backup(to: directory.file("told.db"), fileMode: 0o666, progress: nil)
    #expect(try mode("told.db") == 0o666)
  }

  @Test func `a backup in a read transaction is of its snapshot and leaves it open`() throws {
    let other = try directory.open()
    try connection.execute("BEGIN")
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 2000)
    try other.execute("DELETE FROM t")
    try connection.backup(to: directory.file("copy.db"), fileMode: nil, progress: nil)
    #expect(connection.isInTransaction)
    ImmediateTransaction.rollback(on: connection)
    let copy = try directory.open("copy.db") { $0.access = .readOnly }
    #expect(try copy.queryInt64("SELECT count(*) FROM t") == 2000)
  }

  @Test func `a backup in a write transaction is an error`() throws {
    try ImmediateTransaction.begin(on: connection)
    let error = sqliteError {
      try connection.backup(to: directory.file("copy.db"), fileMode: nil, progress: nil)
    }
    #expect(error?.code == .misuse)
    #expect(connection.isInTransaction)
    #expect(others == [])
    ImmediateTransaction.rollback(on: connection)
  }

  @Test func `an empty database and one in memory can be backed up`() throws {
    let empty = try directory.open("empty.db")
    try empty.backup(to: directory.file("empty-copy.db"), fileMode: nil, progress: nil)
    let copy = try directory.open("empty-copy.db") { $0.access = .readOnly }
    #expect(try copy.queryInt64("SELECT count(*) FROM sqlite_master") == 0)
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    let memory = try Connection(path: ":memory:", options: options)
    try memory.script("CREATE TABLE m (a); INSERT INTO m VALUES (1)")
    try memory.backup(to: directory.file("memory.db"), fileMode: nil, progress: nil)
    #expect(try mode("memory.db") == 0o600)
  }

  @Test func `a source that is no database is an error and leaves nothing`() throws {
    try Data(repeating: 7, count: 10_000).write(
      to: URL(fileURLWithPath: directory.file("test.db.bad")))
    let bad = try Connection(path: directory.file("test.db.bad"), options: ConnectionOptions())
    let error = sqliteError {
      try bad.backup(to: directory.file("copy.db"), fileMode: nil, progress: nil)
    }
    #expect(error?.code == .notADatabase)
    #expect(others == [])
  }
}
