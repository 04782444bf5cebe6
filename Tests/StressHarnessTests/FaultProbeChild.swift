import Foundation
import ProcessHarness
import StressFaults
import TestDatabase
import Testing

/// A process that does what a test tells it, with faults that the test brings about.
struct FaultProbeChild {
  let process: ChildProcess

  /// Says one line and returns the answer.
  func ask(_ line: String) async throws -> String {
    process.send(line)
    return try await process.next("the answer to '\(line)'") { _ in true }.text
  }

  /// SQLite's primary result code of a statement.
  func code(_ sql: String) async throws -> Int {
    let words = try await ask("run \(sql)").split(separator: " ")
    return (words.first.flatMap { Int($0) } ?? -1) & 0xFF
  }

  func value(_ sql: String) async throws -> Int {
    let words = try await ask("run \(sql)").split(separator: " ")
    return words.count > 1 && words[0] == "0" ? Int(words[1]) ?? -1 : -1
  }

  /// Opens a database in WAL mode.
  func open(_ path: String, synchronous: String = "FULL") async throws {
    #expect(try await ask("open \(path)") == "0")
    for sql in [
      "PRAGMA busy_timeout = 30000", "PRAGMA journal_mode = WAL",
      "PRAGMA synchronous = \(synchronous)",
    ] {
      #expect(try await code(sql) == 0)
    }
  }
}

/// One test's run of faults: a directory, an injector, and processes.
struct FaultBench: Sendable {
  let injector: FaultInjector
  let database: String
  private let control: String
  private let children: ChildProcesses

  func probe(place: Int = 0) async throws -> FaultProbeChild {
    let process = try await children.start(
      built: "boutique-stress", [FaultProbe.option, control, String(place)])
    _ = try await process.next("ready") { $0.text == "ready" }
    return FaultProbeChild(process: process)
  }

  /// Strikes, does something while the fault lasts, and returns what came of it.
  func during(
    _ event: FaultEvent, victim: FaultProbeChild? = nil,
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> FaultRecord {
    let failure = Failure()
    let record = try await injector.strike(event, victim: victim?.process) {
      do { try await body() } catch { await failure.set(error) }
    }
    if let error = await failure.error { throw error }
    return record
  }

  private actor Failure {
    var error: (any Error)?
    func set(_ error: any Error) { self.error = error }
  }

  /// Gives a test a bench and takes it away.
  static func with(
    _ kinds: [FaultKind] = [], _ body: (FaultBench) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    let data = directory.file("data")
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    let injector = try FaultInjector(
      control: directory.file("control"), database: data + "/app.db", processes: 4, kinds: kinds)
    do {
      try await withChildProcesses { children in
        try await body(
          FaultBench(
            injector: injector, database: data + "/app.db", control: directory.file("control"),
            children: children))
      }
    } catch {
      try await injector.close()
      throw error
    }
    try await injector.close()
  }
}
