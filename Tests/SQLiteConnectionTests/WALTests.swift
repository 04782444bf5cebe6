import Foundation
import SQLiteConnection
import Testing

/// The log: its index header, and checkpoints.
@Suite struct WALTests {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try directory.open()
    try connection.execute("CREATE TABLE t (a)")
  }

  func change() throws -> UInt32 {
    try #require(connection.walIndexHeader()).change
  }

  @Test func `the header counts one for each commit of any connection`() throws {
    let other = try directory.open()
    var expected = try change()
    for round in 0..<10 {
      try (round % 2 == 0 ? connection : other).execute("INSERT INTO t VALUES (1)")
      expected += 1
      #expect(try change() == expected)
    }
    #expect(other.walIndexHeader() == connection.walIndexHeader())
  }

  @Test func `the header counts the commits of another process`() throws {
    let shell = "/usr/bin/sqlite3"
    try #require(FileManager.default.isExecutableFile(atPath: shell))
    let before = try change()
    for _ in 0..<3 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: shell)
      process.arguments = [directory.file(), "INSERT INTO t VALUES (1)"]
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    #expect(try change() == before + 3)
    #expect(try connection.queryInt64("SELECT count(*) FROM t") == 3)
  }

  @Test func `the header counts neither rollbacks nor empty commits nor checkpoints`() throws {
    let before = try change()
    try ImmediateTransaction.begin(on: connection)
    try connection.execute("INSERT INTO t VALUES (1)")
    ImmediateTransaction.rollback(on: connection)
    try ImmediateTransaction.begin(on: connection)
    try ImmediateTransaction.commit(on: connection)
    for mode in [CheckpointMode.passive, .full, .restart, .truncate] {
      #expect(try !connection.checkpoint(mode).busy)
    }
    #expect(try change() == before)
  }

  @Test func `the header tells pages, frames and what is copied`() throws {
    try connection.execute("INSERT INTO t VALUES (zeroblob(20000))")
    let full = try #require(connection.walIndexHeader())
    #expect(full.pageSize == 4096)
    #expect(try connection.queryInt64("PRAGMA page_count") == Int64(full.pageCount))
    #expect(full.maxFrame > 5)
    #expect(full.backfilledFrames == 0)
    let result = try connection.checkpoint(.passive)
    #expect(result.walFrames == Int(full.maxFrame))
    #expect(result.checkpointedFrames == Int(full.maxFrame))
    #expect(connection.walIndexHeader()?.backfilledFrames == full.maxFrame)
    try connection.execute("INSERT INTO t VALUES (1)")
    let anew = try #require(connection.walIndexHeader())
    #expect(anew.maxFrame < full.maxFrame)
    #expect((anew.salt1, anew.salt2) != (full.salt1, full.salt2))
  }

  @Test func `a reader's mark is seen while it reads`() throws {
    try connection.execute("INSERT INTO t VALUES (1), (2)")
    let reader = try directory.open()
    let statement = try reader.prepare("SELECT a FROM t")
    #expect(try statement.step())
    let header = try #require(connection.walIndexHeader())
    let marks = header.readMarks
    #expect(
      [marks.mark1, marks.mark2, marks.mark3, marks.mark4].contains(header.maxFrame))
    #expect(marks.mark0 == 0)
  }

  @Test(arguments: [512, 65_536])
  func `page sizes at both ends are told`(size: Int) throws {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    let connection = try Connection(path: directory.file("sized.db"), options: options)
    try connection.script(
      "PRAGMA page_size = \(size); PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    #expect(connection.walIndexHeader()?.pageSize == UInt32(size))
  }

  @Test func `asking makes no log and no index`() throws {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    let plain = try Connection(path: directory.file("plain.db"), options: options)
    #expect(plain.walIndexHeader() == nil)
    try plain.execute("CREATE TABLE t (a)")
    #expect(plain.walIndexHeader() == nil)
    try ImmediateTransaction.begin(on: plain)
    try plain.execute("INSERT INTO t VALUES (1)")
    #expect(plain.walIndexHeader() == nil)
    try ImmediateTransaction.commit(on: plain)
    #expect(directory.names.filter { $0.hasPrefix("plain") } == ["plain.db"])
    // Before its first read a connection does not know that the file has a log.
    let late = try Connection(path: directory.file(), options: ConnectionOptions())
    #expect(late.walIndexHeader() == nil)
    _ = try late.queryInt64("SELECT count(*) FROM t")
    #expect(late.walIndexHeader() == connection.walIndexHeader())
  }

  @Test func `leaving WAL mode ends the header`() throws {
    #expect(connection.walIndexHeader() != nil)
    #expect(try connection.queryText("PRAGMA journal_mode = DELETE") == "delete")
    #expect(connection.walIndexHeader() == nil)
    #expect(directory.names == ["test.db"])
    #expect(try connection.queryText("PRAGMA journal_mode = WAL") == "wal")
    try connection.execute("INSERT INTO t VALUES (1)")
    #expect(connection.walIndexHeader() != nil)
  }

  @Test func `the header is whole while others commit`() throws {
    let path = directory.file()
    let stop = Shared(false)
    let failure = Shared<String?>(nil)
    let commits = Shared(0)
    let thread = Background {
      do {
        let writer = try Connection(path: path, options: ConnectionOptions())
        writer.setBusyHandler { _ in true }
        while !stop.get() {
          try writer.execute("INSERT INTO t VALUES (1)")
          commits.update { $0 += 1 }
        }
      } catch {
        failure.update { $0 = "\(error)" }
      }
    }
    let first = try change()
    var last = first
    while commits.get() < 500, failure.get() == nil {
      // Missing only when each of many attempts met a writer in the middle.
      guard let header = connection.walIndexHeader() else { continue }
      #expect(header.change >= last)
      #expect(header.pageSize == 4096)
      last = header.change
    }
    stop.update { $0 = true }
    #expect(thread.join())
    #expect(failure.get() == nil)
    #expect(try change() == first + UInt32(commits.get()))
  }

  // MARK: Checkpoints

  @Test func `a checkpoint that a reader holds up is busy and no error`() throws {
    try connection.execute("INSERT INTO t VALUES (1), (2)")
    let reader = try directory.open()
    let statement = try reader.prepare("SELECT a FROM t")
    #expect(try statement.step())
    try connection.execute("INSERT INTO t VALUES (zeroblob(20000))")
    let held = try connection.checkpoint(.truncate)
    #expect(held.busy)
    #expect(held.checkpointedFrames < held.walFrames)
    statement.reset()
    #expect(
      try connection.checkpoint(.truncate)
        == CheckpointResult(walFrames: 0, checkpointedFrames: 0, busy: false))
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("test.db-wal"))
    #expect(attributes[.size] as? Int == 0)
  }

  @Test func `a checkpoint inside a write transaction is an error`() throws {
    try ImmediateTransaction.begin(on: connection)
    try connection.execute("INSERT INTO t VALUES (1)")
    #expect(sqliteError { _ = try connection.checkpoint(.passive) }?.code == .locked)
    ImmediateTransaction.rollback(on: connection)
  }

  @Test func `a checkpoint without a log does nothing`() throws {
    _ = try connection.queryText("PRAGMA journal_mode = DELETE")
    #expect(
      try connection.checkpoint(.full)
        == CheckpointResult(walFrames: 0, checkpointedFrames: 0, busy: false))
  }

  @Test func `the log is cut to its limit when it starts anew`() throws {
    try connection.setJournalSizeLimit(10_000)
    try connection.execute("INSERT INTO t VALUES (zeroblob(200000))")
    let file = directory.file("test.db-wal")
    func size() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
    }
    #expect(try #require(try size()) > 200_000)
    #expect(try !connection.checkpoint(.restart).busy)
    try connection.execute("INSERT INTO t VALUES (1)")
    #expect(try #require(try size()) <= 10_000)
  }
}
