import ProcessHarness
import Testing

extension Locks {
  @Suite struct RingTests {
    @Test func `a real ring of waits is marked and told`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.opened("bystander")
        // Each has one file locked and waits in the kernel for the other's.
        let program = """
          import sqlite3, sys, fcntl
          db = sqlite3.connect(sys.argv[1], isolation_level=None)
          db.execute('SELECT count(*) FROM note').fetchall()
          mine = open(sys.argv[2], 'w'); fcntl.flock(mine, fcntl.LOCK_EX)
          print('there', flush=True)
          sys.stdin.readline()
          other = open(sys.argv[3], 'w'); fcntl.flock(other, fcntl.LOCK_EX)
          """
        var ring: [ChildProcess] = []
        for (mine, other) in [("x", "y"), ("y", "x")] {
          ring.append(
            try await scene.children.start(
              ChildCommand(
                "python3", ["-c", program, scene.path, scene.file(mine), scene.file(other)])))
        }
        for child in ring { _ = try await child.next("its lock") { $0.text == "there" } }
        for child in ring { child.send("go") }
        let database = try await scene.waitForJSON("the ring") { $0.findings.first == "cycle" }
        #expect(database["findings"]?.list?.first?["severity"] == "problem")
        let tree = try await scene.locks("--tree", scene.path)
        #expect(tree.status == .exited(1))
        let lowest = ring.map(\.processID).min() ?? 0
        let highest = ring.map(\.processID).max() ?? 0
        #expect(tree.lines.first == "a ring of waits:")
        #expect(tree.lines.dropFirst().first == "pid \(lowest)")
        #expect(tree.lines.dropFirst(2).first?.hasPrefix("└─ pid \(highest) waits") == true)
        #expect(tree.lines.last?.hasPrefix("   └─ pid \(lowest) waits") == true)
        #expect(tree.lines.last?.hasSuffix("↺ ring: see above") == true)
        let whole = try await scene.locks("--json", scene.path).whole
        #expect(whole["cycles"]?.list?.count == 1)
      }
    }
  }
}
