import Glibc
import SharedFileCoordination
import Testing

@Suite struct MigrationLeaseTests {
  @Test func `one at a time migrates, among instances and among threads of one`() throws {
    let scratch = try Scratch()
    let first = try scratch.open(label: "migrator")
    let second = try scratch.open(label: "other")
    let lease = try first.acquireMigrationLease(deadline: soon())
    for file in [first, second] {
      let error = #expect(throws: CoordinationError.self) {
        _ = try file.acquireMigrationLease(
          deadline: BootClock.now(advancedBy: .milliseconds(20)))
      }
      guard case .leaseTimeout(let timeout) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(timeout.holder?.label == "migrator")
      #expect(timeout.purpose == "migration")
    }
    #expect(second.report().migrationHolder?.process?.label == "migrator")
    #expect(second.report().holder == nil)
    lease.release()
    lease.release()
    let next = try second.acquireMigrationLease(deadline: soon())
    next.release()
    #expect(second.report().migrationHolder == nil)
  }

  @Test func `waiters get it when it is released or let go`() throws {
    let scratch = try Scratch()
    let workers = try (0..<4).map { number in
      let file = try scratch.open(label: "\(number)")
      return Worker {
        let lease = try file.acquireMigrationLease(deadline: soon())
        if number % 2 == 0 { lease.release() }
      }
    }
    for worker in workers { try worker.value() }
  }

  @Test func `it does not include the write lease`() throws {
    let scratch = try Scratch()
    let first = try scratch.open()
    let second = try scratch.open()
    let lease = try first.acquireMigrationLease(deadline: soon())
    try second.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false }).finish()
    lease.release()
  }

  @Test func `a cancelled wait ends`() throws {
    let scratch = try Scratch()
    let first = try scratch.open()
    let second = try scratch.open()
    let lease = try first.acquireMigrationLease(deadline: soon())
    let error = #expect(throws: CoordinationError.self) {
      _ = try second.acquireMigrationLease(deadline: soon(), isCancelled: { true })
    }
    guard case .cancelled = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    lease.release()
  }

  @Test func `a lock file that went away is made again`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    try scratch.write([], to: scratch.path + "/new")
    #expect(rename(scratch.path + "/new", scratch.lockFile) == 0)
    let lease = try file.acquireMigrationLease(deadline: soon())
    let other = try scratch.open()
    #expect(throws: CoordinationError.self) {
      _ = try other.acquireMigrationLease(deadline: BootClock.now())
    }
    lease.release()
  }
}
