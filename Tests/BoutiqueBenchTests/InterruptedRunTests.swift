import Foundation
import Glibc
import ProcessHarness
import TestDatabase
import Testing

/// Runs that do not come to their end.
@Suite struct InterruptedRunTests {
  /// Long enough that it never ends by itself.
  private static let endless = ["contention", "--writers=2", "--transactions=100000000"]

  @Test func `a worker that is killed fails the run and is named`() async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", Self.endless + ["--directory=\(place.path)"])
      let workers = try await Self.workers(of: child, count: 2)
      kill(workers[0], SIGKILL)
      #expect(try await child.exit() == .exited(1))
      #expect(
        child.standardError.contains("was killed by signal 9 before its work was done"),
        "\(child.standardError)")
      Self.expectNothing(of: workers, in: place)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends the workers and removes the databases`(signal: Int32) async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", Self.endless + ["--directory=\(place.path)"])
      let workers = try await Self.workers(of: child, count: 2)
      child.signal(signal)
      #expect(try await child.exit() == .exited(128 + signal))
      Self.expectNothing(of: workers, in: place)
    }
  }

  @Test func `workers end when the program itself is killed`() async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", Self.endless + ["--directory=\(place.path)"])
      let workers = try await Self.workers(of: child, count: 2)
      child.kill()
      try await child.exit()
      for worker in workers {
        try await Self.wait("the end of worker \(worker)") { !Self.isRunning(worker) }
      }
    }
  }

  // MARK: Looking at processes

  private static func expectNothing(of workers: [pid_t], in place: TestDirectory) {
    #expect(workers.allSatisfy { !isRunning($0) })
    #expect((try? FileManager.default.contentsOfDirectory(atPath: place.path)) == [])
  }

  /// Waits until the program has so many workers, and returns them.
  private static func workers(of child: ChildProcess, count: Int) async throws -> [pid_t] {
    try await wait("\(count) workers") { self.children(of: child.processID).count == count }
    return children(of: child.processID)
  }

  private static func wait(_ awaited: String, until isSo: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isSo() {
      guard ContinuousClock.now < deadline else {
        Issue.record("waited a minute for \(awaited)")
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Returns the children of all threads of a process (proc_tid_children(5)).
  private static func children(of process: pid_t) -> [pid_t] {
    let tasks = "/proc/\(process)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.flatMap { thread in
      text(of: "\(tasks)/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
    }
  }

  /// Whether a process is there and no zombie; the third field of its `stat`, behind the name.
  private static func isRunning(_ process: pid_t) -> Bool {
    let fields = text(of: "/proc/\(process)/stat").split(separator: ")").last ?? ""
    let state = fields.split(separator: " ").first
    return state != nil && state != "Z"
  }

  private static func text(of path: String) -> String {
    let data = try? FileHandle(forReadingAtPath: path)?.readToEnd()
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
