import Foundation
import ProcessHarness
import StressFaults
import Testing

/// What the file system that fails does to SQLite.
///
/// The events' values are chosen so that any access of any file fails from the first one on; see `RuleFaults`.
@Suite(.aloneInProcess, .timeLimit(.minutes(5)))
struct FaultsInFilesTests {
  private static let insert = "INSERT INTO t VALUES (randomblob(100))"

  /// Strikes while a process inserts; returns SQLite's code in the meantime and the record.
  private func code(
    _ event: FaultEvent, kinds: [FaultKind] = [], sql: String = insert
  ) async throws -> (code: Int, record: FaultRecord) {
    let code = Box()
    var record: FaultRecord?
    try await FaultBench.with(kinds) { bench in
      let probe = try await bench.probe()
      try await probe.open(bench.database)
      #expect(try await probe.code("CREATE TABLE t (x)") == 0)
      record = try await bench.during(event, victim: probe) {
        await code.set(try await probe.code(sql))
      }
      #expect(try await probe.code(Self.insert) == 0, "it is over")
      #expect(try await probe.value("SELECT count(*) FROM pragma_integrity_check") == 1)
    }
    return (await code.value, try #require(record))
  }

  private actor Box {
    var value = -1
    func set(_ value: Int) { self.value = value }
  }

  private let ioError = 10
  private let full = 13

  @Test func `an I/O error reaches SQLite and is counted`() async throws {
    let (code, record) = try await code(FaultEvent(kind: .ioError, time: 0, target: 0, value: 644))
    #expect(code == ioError)
    #expect(record.didStrike)
  }

  @Test func `a fault for another process does not strike and says so`() async throws {
    let (code, record) = try await code(FaultEvent(kind: .ioError, time: 0, target: 1, value: 644))
    #expect(code == 0)
    #expect(!record.didStrike)
  }

  @Test(arguments: [(162, 10), (163, 13)])
  func `a short write fails, and the transaction with it`(value: Int, expected: Int) async throws {
    let (code, record) = try await code(
      FaultEvent(kind: .shortWrite, time: 0, target: 0, value: value))
    #expect(code == expected)
    #expect(record.didStrike)
  }

  @Test func `a full disk refuses what grows`() async throws {
    let (code, record) = try await code(FaultEvent(kind: .diskFull, time: 0, value: 1))
    #expect(code == full)
    #expect(record.didStrike)
  }

  @Test func `a full disk in memory refuses what grows, and leaves its files where they were`()
    async throws
  {
    // Where nothing can be mounted the file system plays it, which is the same for SQLite.
    let (code, record) = try await code(
      FaultEvent(kind: .diskFull, time: 0, value: 0), kinds: [.diskFull],
      sql: "INSERT INTO t VALUES (randomblob(1000000))")
    #expect(code == full)
    #expect(record.didStrike)
  }

  @Test func `what was on the disk in memory is in the directory afterwards`() async throws {
    var path = ""
    try await FaultBench.with([.diskFull]) { bench in
      path = bench.database
      let probe = try await bench.probe()
      try await probe.open(path)
      #expect(try await probe.code("CREATE TABLE t (x)") == 0)
      #expect(try await probe.code(Self.insert) == 0)
      await probe.process.end()
      try await bench.injector.close()
      let mounts = try #require(try FileHandle(forReadingAtPath: "/proc/self/mounts")?.readToEnd())
      #expect(!String(decoding: mounts, as: UTF8.self).contains(path.dropLast("/app.db".count)))
      let again = try await bench.probe()
      try await again.open(path)
      #expect(try await again.value("SELECT count(*) FROM t") == 1)
    }
  }

  @Test func `a failed sync fails the commit that waits for it`() async throws {
    let (code, record) = try await code(
      FaultEvent(kind: .failedSync, time: 0, target: 0, value: 2 + 4 * 2))
    #expect(code == ioError)
    #expect(record.didStrike)
  }

  @Test func `a slow disk delays and fails nothing`() async throws {
    let (code, record) = try await code(FaultEvent(kind: .slowDisk, time: 0, value: 0))
    #expect(code == 0)
    #expect(record.didStrike)
  }

  @Test func `a limit of the files' size is an error and not the end of the process`() async throws
  {
    let (code, record) = try await code(
      FaultEvent(kind: .fileSizeLimit, time: 0, target: 0, value: 0))
    #expect(code == ioError)
    #expect(record.didStrike)
    #expect(record.text.contains("RLIMIT_FSIZE"))
  }

  @Test func `rubbish behind the last commit of the log is nobody's concern`() async throws {
    for value in 1...6 {
      try await FaultBench.with { bench in
        let probe = try await bench.probe()
        try await probe.open(bench.database)
        #expect(try await probe.code("CREATE TABLE t (x)") == 0)
        #expect(try await probe.code(Self.insert) == 0)
        let log = bench.database + "-wal"
        func size() throws -> Int {
          try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
        }
        let before = try size()
        let record = try await bench.injector.strike(
          FaultEvent(kind: .logTampering, time: 0, value: value), victim: nil)
        #expect(record.didStrike)
        #expect(try size() > before)
        // For who recovers the log, and for who goes on writing it.
        await probe.process.end()
        let other = try await bench.probe()
        try await other.open(bench.database)
        #expect(try await other.value("SELECT count(*) FROM t") == 1)
        #expect(try await other.code(Self.insert) == 0)
        #expect(try await other.value("SELECT count(*) FROM t") == 2)
      }
    }
  }

  @Test func `the log is left alone while somebody writes`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      try await probe.open(bench.database)
      #expect(try await probe.code("CREATE TABLE t (x)") == 0)
      #expect(try await probe.code("BEGIN IMMEDIATE") == 0)
      let record = try await bench.injector.strike(
        FaultEvent(kind: .logTampering, time: 0, value: 1), victim: nil)
      #expect(!record.didStrike)
    }
  }
}
