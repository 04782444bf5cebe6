import Foundation
import SharedFileCoordination
import Testing

@Suite struct WriteLeaseTests {
  private func acquire(
    _ file: CoordinationFile, _ purpose: String = "test", deadline: BootClock.Instant? = soon(),
    isCancelled: @Sendable () -> Bool = { false }
  ) throws(CoordinationError) -> WriteTurn {
    try file.writeLease.acquire(
      deadline: deadline, purpose: purpose, isCancelled: isCancelled)
  }

  /// Waits until so many stand in line.
  private func line(of file: CoordinationFile, reaches count: Int) -> Bool {
    eventually { file.report(includesKernelLocks: false).waiters.count == count }
  }

  @Test func `a free lease is had at once, again and again`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    for _ in 0..<100 { try acquire(file).finish() }
    #expect(file.report().holder == nil)
  }

  @Test func `two instances never have the lease at the same time`() throws {
    let scratch = try Scratch()
    let inside = Log<Int>()
    let workers = try (0..<4).map { number in
      let file = try scratch.open(label: "\(number)")
      return Worker {
        for _ in 0..<200 {
          let turn = try acquire(file)
          inside.append(number)
          sched_yield()
          inside.append(number)
          turn.finish()
        }
        file.close()
      }
    }
    for worker in workers { try worker.value() }
    let seen = inside.all
    #expect(seen.count == 1600)
    for pair in stride(from: 0, to: seen.count, by: 2) where seen[pair] != seen[pair + 1] {
      Issue.record("a second holder inside turn \(pair / 2)")
      return
    }
  }

  @Test func `eight waiters get their turns in order of arrival`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open()
    let turn = try acquire(holder)
    let order = Log<Int>()
    var workers: [Worker<Void>] = []
    for number in 0..<8 {
      let file = try scratch.open(label: "\(number)", patience: .seconds(3600))
      workers.append(
        Worker {
          let turn = try acquire(file)
          order.append(number)
          turn.finish()
        })
      #expect(line(of: holder, reaches: number + 1))
    }
    #expect(holder.report().waiters.map { $0.process?.label } == (0..<8).map { "\($0)" })
    turn.finish()
    for worker in workers { try worker.value() }
    #expect(order.all == Array(0..<8))
  }

  @Test func `the next in line is woken by the one that finishes, not by looking`() throws {
    let scratch = try Scratch()
    // With an hour between looks only a wake-up can end the wait.
    let first = try scratch.open(lookInterval: .seconds(3600))
    let second = try scratch.open(lookInterval: .seconds(3600))
    for _ in 0..<50 {
      let turn = try acquire(first)
      let waiting = Worker { try acquire(second, deadline: nil).finish() }
      #expect(line(of: first, reaches: 1))
      turn.finish()
      try waiting.value()
    }
  }

  @Test func `an abandoned turn is given up and the next is woken`() throws {
    let scratch = try Scratch()
    let first = try scratch.open(lookInterval: .seconds(3600))
    let second = try scratch.open(lookInterval: .seconds(3600))
    func abandon(_ waiting: inout Worker<Void>?) throws {
      let turn = try acquire(first)
      waiting = Worker { try acquire(second, deadline: nil).finish() }
      #expect(line(of: first, reaches: 1))
      _ = turn.heldFor
    }
    var waiting: Worker<Void>?
    try abandon(&waiting)
    try waiting?.value()
    try acquire(first).finish()
  }

  @Test func `a turn is handed over when its quantum is used up and somebody waits`() throws {
    let scratch = try Scratch()
    let quick = try scratch.open(quantum: .zero)
    let slow = try scratch.open(quantum: .seconds(3600))
    var turn = try acquire(quick)
    var mustHandOver = turn.shouldHandOver()
    #expect(!mustHandOver, "nobody waits")
    let waiting = Worker { try acquire(slow).finish() }
    #expect(line(of: quick, reaches: 1))
    mustHandOver = turn.shouldHandOver()
    #expect(mustHandOver)
    turn.finish()
    try waiting.value()

    turn = try acquire(slow)
    let other = Worker { try acquire(quick).finish() }
    #expect(line(of: slow, reaches: 1))
    mustHandOver = turn.shouldHandOver()
    #expect(!mustHandOver, "the quantum is not used up")
    turn.finish()
    try other.value()
  }

  @Test func `a time-out names the holder, its purpose and those in front`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open(label: "collector")
    let turn = try acquire(holder, "import of readings")
    let first = try scratch.open(label: "first")
    let second = try scratch.open(label: "second")
    let waiting = Worker { try acquire(first).finish() }
    #expect(line(of: holder, reaches: 1))
    let error = #expect(throws: CoordinationError.self) {
      try acquire(second, deadline: BootClock.now(advancedBy: .milliseconds(50))).finish()
    }
    guard case .leaseTimeout(let timeout) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(timeout.path == scratch.lockFile)
    #expect(timeout.waited >= .milliseconds(50))
    #expect(timeout.holder?.label == "collector")
    #expect(timeout.holder?.pid == getpid())
    #expect(timeout.holder?.command == "test command")
    #expect(timeout.purpose == "import of readings")
    #expect(timeout.waitersBefore == 1)
    #expect(try #require(timeout.heldFor) >= .milliseconds(50))
    let text = try #require(error).description
    for part in ["collector", "import of readings", "\(getpid())", scratch.lockFile] {
      #expect(text.contains(part))
    }
    // Who timed out is out of the line.
    #expect(holder.report().waiters.map { $0.process?.label } == ["first"])
    turn.finish()
    try waiting.value()
    try acquire(second).finish()
  }

  @Test func `a deadline in the past still tries once`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let past = BootClock.Instant(nanoseconds: 1)
    try acquire(file, deadline: past).finish()
    let other = try scratch.open()
    let turn = try acquire(other)
    #expect(throws: CoordinationError.self) { try acquire(file, deadline: past).finish() }
    turn.finish()
  }

  @Test func `a cancelled wait ends, leaves the line and lets the next one go`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open()
    let turn = try acquire(holder)
    let flag = Flag()
    let file = try scratch.open(lookInterval: .seconds(3600))
    let waiting = Worker {
      try acquire(file, deadline: nil, isCancelled: { flag.isSet }).finish()
    }
    #expect(line(of: holder, reaches: 1))
    flag.set()
    file.writeLease.wakeWaiter()
    let error = #expect(throws: CoordinationError.self) { try waiting.value() }
    guard case .cancelled = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(holder.report().waiters.isEmpty)
    turn.finish()
    try acquire(file).finish()
  }

  @Test func `a wake-up that comes to one that leaves is passed on`() throws {
    // With an hour between looks the third one would wait for an hour.
    //
    //   holder                leaver                       other
    //   has its turn          waits                        waits
    //                         sees that it is held,
    //                         asks whether to go on:
    //   finishes, wakes the     …
    //   leaver                … no: leaves, wakes the next  goes
    let scratch = try Scratch()
    let holder = try scratch.open(lookInterval: .seconds(3600))
    let leaver = try scratch.open(lookInterval: .seconds(3600))
    let other = try scratch.open(lookInterval: .seconds(3600))
    let mayFinish = Flag()
    let hasFinished = Flag()
    let isCancelled = Flag()
    let holding = Worker {
      let turn = try acquire(holder)
      #expect(eventually { mayFinish.isSet })
      turn.finish()
      hasFinished.set()
    }
    #expect(eventually { leaver.report(includesKernelLocks: false).holder != nil })
    let leaving = Worker {
      try acquire(
        leaver, deadline: nil,
        isCancelled: {
          guard isCancelled.isSet else { return false }
          mayFinish.set()
          return eventually { hasFinished.isSet }
        }
      ).finish()
    }
    #expect(line(of: other, reaches: 1))
    let waiting = Worker { try acquire(other, deadline: nil).finish() }
    #expect(line(of: holder, reaches: 2))
    isCancelled.set()
    leaver.writeLease.wakeWaiter()
    let error = #expect(throws: CoordinationError.self) { try leaving.value() }
    guard case .cancelled = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try waiting.value()
    try holding.value()
  }

  @Test func `closing ends a wait`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open()
    let turn = try acquire(holder)
    let file = try scratch.open(lookInterval: .seconds(3600))
    let waiting = Worker { try acquire(file, deadline: nil).finish() }
    #expect(line(of: holder, reaches: 1))
    file.close()
    let error = #expect(throws: CoordinationError.self) { try waiting.value() }
    guard case .closed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(eventually { holder.report().members.count == 1 })
    turn.finish()
  }

  @Test func `a second thread of one handle is refused while the first waits or holds`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let turn = try acquire(file)
    let error = #expect(throws: CoordinationError.self) { try acquire(file).finish() }
    guard case .alreadyWaiting = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    turn.finish()
    try acquire(file).finish()
  }

  @Test func `a process beyond the slots works without a place in line, and says so`() throws {
    let scratch = try Scratch()
    let files = try (0..<3).map { try scratch.open(label: "\($0)", slotCount: 2) }
    #expect(files.map(\.slotNumber) == [0, 1, nil])
    #expect(files[2].unlistedReason?.contains("2 slots") == true)
    #expect(files[1].unlistedReason == nil)
    let turn = try acquire(files[2], "unlisted work")
    let error = #expect(throws: CoordinationError.self) {
      try acquire(files[0], deadline: BootClock.now(advancedBy: .milliseconds(30))).finish()
    }
    guard case .leaseTimeout(let timeout) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(timeout.holder?.label == "2")
    #expect(timeout.purpose == "unlisted work")
    let waiting = Worker { try acquire(files[0]).finish() }
    #expect(line(of: files[1], reaches: 1))
    turn.finish()
    try waiting.value()

    let held = try acquire(files[0])
    let unlisted = Worker { try acquire(files[2]).finish() }
    #expect(!unlisted.isDone)
    held.finish()
    try unlisted.value()
  }

  // MARK: The lock file goes away

  enum Removal: String, CaseIterable {
    case deleted
    case moved
    case replaced
  }

  private func remove(_ scratch: Scratch, _ kind: Removal) throws {
    switch kind {
    case .deleted:
      #expect(unlink(scratch.lockFile) == 0)
    case .moved:
      #expect(rename(scratch.lockFile, scratch.path + "/elsewhere") == 0)
    case .replaced:
      try scratch.write([], to: scratch.path + "/new")
      #expect(rename(scratch.path + "/new", scratch.lockFile) == 0)
    }
  }

  @Test(arguments: Removal.allCases)
  func `a lock file that went away is made again by the next turn, and all meet there`(
    kind: Removal
  ) throws {
    let scratch = try Scratch()
    let files = try (0..<3).map { try scratch.open(label: "\($0)") }
    try remove(scratch, kind)
    for file in files { try acquire(file).finish() }
    #expect(Set(files.map(\.identity)) == [FileIdentity.of(path: scratch.lockFile)])
    #expect(Set(files.map(\.slotNumber)) == [0, 1, 2])
    let turn = try acquire(files[0])
    #expect(throws: CoordinationError.self) {
      try acquire(files[1], deadline: BootClock.now()).finish()
    }
    turn.finish()
  }

  @Test(arguments: Removal.allCases)
  func `one that waits on a lock file that goes away queues up at the new one`(
    kind: Removal
  ) throws {
    let scratch = try Scratch()
    let old = try scratch.open(label: "old holder")
    let turn = try acquire(old)
    let file = try scratch.open(label: "waiter")
    let flag = Flag()
    let waiting = Worker {
      let turn = try acquire(file)
      #expect(flag.isSet, "the turn came while the newcomer had the lease")
      turn.finish()
    }
    #expect(line(of: old, reaches: 1))
    // The newcomer has the lease of a file elsewhere before that file takes the old one's place.
    let elsewhere = try Scratch()
    let newcomer = try elsewhere.open(label: "newcomer")
    let held = try acquire(newcomer)
    if kind != .replaced { try remove(scratch, kind) }
    #expect(rename(elsewhere.lockFile, scratch.lockFile) == 0)
    #expect(
      eventually { LockReport.of(databasePath: scratch.database).waiters.count == 1 })
    flag.set()
    held.finish()
    try waiting.value()
    // The old turn was never at the new file; finishing it harms nobody.
    turn.finish()
    try acquire(old).finish()
    #expect(old.identity == FileIdentity.of(path: scratch.lockFile))
  }

  @Test func `turns go on while somebody deletes the lock file all the time`() throws {
    let scratch = try Scratch()
    let stop = Flag()
    let vandal = Worker {
      while !stop.isSet {
        unlink(scratch.lockFile)
        usleep(300)
      }
    }
    let workers = try (0..<3).map { number in
      let file = try scratch.open(label: "\(number)")
      return Worker {
        for _ in 0..<100 { try acquire(file).finish() }
      }
    }
    for worker in workers { try worker.value() }
    stop.set()
    try vandal.value()
    let file = try scratch.open()
    #expect(
      try eventually {
        try acquire(file).finish()
        return file.identity != nil && file.identity == FileIdentity.of(path: scratch.lockFile)
      })
  }
}
