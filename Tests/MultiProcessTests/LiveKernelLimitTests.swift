import Foundation
import Glibc
import ProcessHarness
import Testing

extension MultiProcess {
  /// Live queries where the kernel's limits of inotify are reached.
  ///
  /// The limits are the machine's, so these tests change them for everybody, and put them back. They need root.
  @Suite(
    .serialized, .aloneInProcess,
    .enabled(if: access("/proc/sys/fs/inotify/max_user_watches", W_OK) == 0, "needs root"))
  struct LiveKernelLimitTests {
    private static let hour: JSONValue = 3_600_000

    /// Runs `body` with a limit set to another number.
    private func with(
      _ limit: String, _ number: Int, _ body: () async throws -> Void
    ) async throws {
      let path = "/proc/sys/fs/inotify/" + limit
      let before = try String(contentsOfFile: path, encoding: .utf8)
      func set(_ text: String) throws {
        // Not atomically: the file cannot be replaced.
        try text.write(toFile: path, atomically: false, encoding: .utf8)
      }
      try set("\(number)\n")
      do {
        try await body()
      } catch {
        try set(before)
        throw error
      }
      try set(before)
    }

    @Test(arguments: [("max_user_watches", 1), ("max_user_instances", 0)])
    func `without watches or instances the poll brings changes, and the status says so`(
      limit: String, number: Int
    ) async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": 50])
        var watch = 0
        try await with(limit, number) {
          watch = try await watcher.observe("SELECT n FROM counter").0
          let bell = try await watcher.perform("status")["status"]?["bell"]?.string ?? ""
          #expect(bell.hasPrefix("polling only"), "\(bell)")
          #expect(bell.contains(limit), "\(bell)")
          for round in 1...3 {
            try await scene.shell("UPDATE counter SET n = \(round)")
            try await watcher.expectValue(of: watch, [[.integer(Int64(round))]])
          }
        }
        // With the limit gone the bell comes back by itself.
        let clock = ContinuousClock()
        let bound = clock.now + .seconds(60)
        var bell = ""
        while bell != "inotify", clock.now < bound {
          try await clock.sleep(for: .milliseconds(100))
          bell = try await watcher.perform("status")["status"]?["bell"]?.string ?? ""
        }
        #expect(bell == "inotify")
      }
    }

    @Test func `a queue of two events overflows at once, and loses no change`() async throws {
      try await withScene { scene in
        let watcher = try await scene.opened("watcher", ["poll": Self.hour])
        let writer = try await scene.opened("writer")
        try await with("max_queued_events", 2) {
          // The queue's length is taken when the watching begins.
          let (watch, _) = try await watcher.observe("SELECT n FROM counter")
          await watcher.child.stop()
          try await writer.perform(
            "increment", ["sql": "UPDATE counter SET n = n + 1", "times": 200])
          watcher.child.resume()
          _ = try await watcher.values(of: watch) { $0 == [[200]] }
          for round in 1...50 {
            try await writer.execute("UPDATE counter SET n = \(-round)")
            _ = try await watcher.values(of: watch) { $0 == [[.integer(Int64(-round))]] }
          }
        }
      }
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs a suite only where `Tools/test` has given it a process of its own.
  static var aloneInProcess: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["BOUTIQUE_TESTS_ALONE"] == "1",
      "needs a process of its own: Tools/test sees to that")
  }
}
