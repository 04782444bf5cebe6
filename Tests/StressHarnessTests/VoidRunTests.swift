import Foundation
import Glibc
import ProcessHarness
import StressFaults
import StressHarness
import StressHistory
import StressReport
import Synchronization
import TestDatabase
import Testing

/// A run whose history cannot be written shows nothing, and says so.
@Suite struct VoidRunTests {
  @Test func `a history that cannot be opened or begun is an error`() throws {
    let place = try TestDirectory()
    try place.full("full.jsonl")
    #expect(throws: HistoryLogError(path: place.file("full.jsonl"), code: ENOSPC)) {
      _ = try HistoryLog(path: place.file("full.jsonl"), process: 1)
    }
    #expect(throws: HistoryLogError(path: place.file("no/where.jsonl"), code: ENOENT)) {
      _ = try HistoryLog(path: place.file("no/where.jsonl"), process: 1)
    }
  }

  @Test func `a line that cannot be written is told`() throws {
    let place = try TestDirectory()
    let path = place.file("pipe.jsonl")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    // A pipe without a reader is the file that begins to fail here; its signal is not wanted.
    signal(SIGPIPE, SIG_IGN)
    let told = Mutex<[HistoryLogError]>([])
    let log = try HistoryLog(path: path, process: 1) { error in told.withLock { $0.append(error) } }
    let operation = log.begin("write", [])
    let before = told.withLock { $0 }
    #expect(before.isEmpty)
    close(reader)
    log.end(operation, .done)
    let after = told.withLock { $0 }
    #expect(after == [HistoryLogError(path: path, code: EPIPE)])
  }
}

/// The same with real workers.
@Suite(.aloneInProcess) struct VoidRunProcessTests {
  @Test(arguments: [0, 2])
  func `a worker that cannot write its history makes the run void, and accuses nobody`(
    first: Int
  ) async throws {
    let place = try TestDirectory()
    let run = RunContext(
      plan: RunPlan(workload: "counters", faults: [.kill], processes: 2, seconds: 30),
      directory: place.file("run"), program: try BuiltExecutable.path("boutique-stress"))
    try FileManager.default.createDirectory(
      atPath: place.file("run/history"), withIntermediateDirectories: true)
    for start in first..<first + 4 { try place.full("run/history/\(start).jsonl") }
    let error = await #expect(throws: VoidRun.self) { _ = try await StressRun(run).result() }
    #expect(error?.description.contains("No space left on device") == true, "\(error as Any)")
    #expect(error?.description.contains("/history/") == true, "\(error as Any)")
  }

  @Test func `the program ends a void run with a status of its own`() async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-stress",
        [
          "run", "--workload", "counters", "--faults", "kill", "--seconds", "60", "--processes",
          "2", "--keep", place.file("kept"),
        ])
      let deadline = ContinuousClock.now + .seconds(120)
      var history: String?
      while history == nil, ContinuousClock.now < deadline {
        let runs = try? FileManager.default.contentsOfDirectory(atPath: place.file("kept"))
        history = runs?.first.map { "kept/\($0)/history" }.flatMap {
          FileManager.default.fileExists(atPath: place.file($0)) ? $0 : nil
        }
        try await Task.sleep(for: .milliseconds(2))
      }
      let directory = try #require(history)
      // Who is started in place of a dead one finds the disk full.
      for start in 2..<12 { try? place.full("\(directory)/\(start).jsonl") }
      #expect(try await child.exit(within: .seconds(300)) == .exited(4))
      #expect(child.standardError.contains("No space left on device"), "\(child.standardError)")
      #expect(!child.takeLines().contains { $0.contains("violation") })
    }
  }
}

extension TestDirectory {
  /// Makes a file that every write finds full.
  fileprivate func full(_ name: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: file(name), withDestinationPath: "/dev/full")
  }
}
