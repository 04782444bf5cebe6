import SharedFileCoordination
import Synchronization
import Testing

@Suite struct LeasePriorityTests {
  typealias Entry = LeaseQueue.Entry

  @Test func `one that yields stands behind all who come before its moment`() {
    let yielding = Entry(slot: 0, ticket: 1000, passedOver: 10 | Entry.yieldsMark)
    let entries = [yielding, Entry(slot: 1, ticket: 500), Entry(slot: 2, ticket: 1500)]
    #expect(LeaseQueue.line(entries, without: nil).map(\.slot) == [1, 0, 2])
    #expect(yielding.counts && yielding.yields && yielding.arrival == 10)
    let normal = Entry(slot: 1, ticket: 500)
    #expect(normal.counts && !normal.yields && normal.arrival == 500)
  }

  @Test func `one that was passed over yields no more, whatever it was`() {
    let passed = Entry(slot: 0, ticket: 1000, passedOver: 1000)
    #expect(!passed.counts && !passed.yields && passed.arrival == 1000)
  }

  @Test func `a mark of an older turn is no arrival`() {
    let entry = Entry(slot: 0, ticket: 7, passedOver: 5)
    #expect(entry.counts && !entry.yields && entry.arrival == 7)
  }

  // MARK: With a lock file

  private func acquire(
    _ file: CoordinationFile, yielding: Duration? = nil
  ) throws(CoordinationError) -> WriteTurn {
    try file.writeLease.acquire(
      deadline: soon(), purpose: "test", yieldingFor: { yielding }, isCancelled: { false })
  }

  private func waiters(_ file: CoordinationFile) -> [LockReport.Waiter] {
    file.report(includesKernelLocks: false).waiters
  }

  @Test func `a free lease is had at once by one that yields, and though one that yields waits`()
    throws
  {
    let scratch = try Scratch()
    let file = try scratch.open()
    try acquire(file, yielding: .seconds(3600)).finish()
    // Left by one that never looks again.
    let sleeper = try scratch.open(patience: .seconds(3600))
    let turn = try acquire(file)
    let waiting = Worker { try acquire(sleeper, yielding: .seconds(3600)).finish() }
    #expect(eventually { waiters(file).count == 1 })
    turn.finish()
    try acquire(file).finish()
    try waiting.value()
  }

  @Test func `whoever comes before the moment goes first, whoever comes later does not`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open()
    let turn = try acquire(holder)
    let order = Log<String>()
    func wait(_ label: String, _ yielding: Duration?, _ count: Int) throws -> Worker<Void> {
      let file = try scratch.open(label: label, patience: .seconds(3600))
      let worker = Worker {
        let turn = try acquire(file, yielding: yielding)
        order.append(label)
        turn.finish()
      }
      #expect(eventually { waiters(holder).count == count })
      return worker
    }
    let patient = try wait("patient", .seconds(3600), 1)
    let soonAged = try wait("soon aged", .milliseconds(1), 2)
    let between = BootClock.now(advancedBy: .milliseconds(5))
    #expect(eventually { BootClock.now() > between })
    let normal = try wait("normal", nil, 3)
    let line = waiters(holder)
    #expect(line.map { $0.process?.label } == ["soon aged", "normal", "patient"])
    #expect(line.map(\.isYielding) == [true, false, true])
    // How long it has waited, not how long until its moment.
    #expect(line[2].waitingFor >= line[0].waitingFor)
    #expect(line[2].waitingFor > .zero)
    turn.finish()
    for worker in [patient, soonAged, normal] { try worker.value() }
    #expect(order.all == ["soon aged", "normal", "patient"])
  }

  @Test func `one that yields no more goes to where it would stand if it came now`() throws {
    let scratch = try Scratch()
    let holder = try scratch.open()
    let turn = try acquire(holder)
    let yields = Atomic(true)
    let file = try scratch.open(patience: .seconds(3600))
    let changing = Worker {
      try file.writeLease.acquire(
        deadline: soon(), purpose: "test",
        yieldingFor: { yields.load(ordering: .acquiring) ? .seconds(3600) : nil },
        isCancelled: { false }
      ).finish()
    }
    #expect(eventually { waiters(holder).first?.isYielding == true })
    yields.store(false, ordering: .releasing)
    file.writeLease.wakeWaiter()
    #expect(eventually { waiters(holder).first?.isYielding == false })
    turn.finish()
    try changing.value()
  }

  @Test func `a turn goes on past those who yield, and ends at once for what yields itself`() throws
  {
    let scratch = try Scratch()
    let quick = try scratch.open(quantum: .zero)
    let slow = try scratch.open(quantum: .seconds(3600))
    let other = try scratch.open(patience: .seconds(3600))
    var turn = try acquire(quick)
    let yielding = Worker { try acquire(other, yielding: .seconds(3600)).finish() }
    #expect(eventually { waiters(quick).count == 1 })
    var answers = [turn.shouldHandOver(), turn.shouldHandOver(nextYields: true)]
    #expect(answers == [false, true], "the quantum is used up, and one that yields waits")
    turn.finish()
    try yielding.value()

    turn = try acquire(slow)
    let normal = Worker { try acquire(other).finish() }
    #expect(eventually { waiters(slow).count == 1 })
    answers = [turn.shouldHandOver(), turn.shouldHandOver(nextYields: true)]
    #expect(answers == [false, true], "the quantum is not used up, and a normal one waits")
    turn.finish()
    try normal.value()
  }

  @Test func `a turn that goes on with something new is as old as that in reports`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let turn = try acquire(file)
    let began = try #require(file.report().holder?.since)
    let later = BootClock.now(advancedBy: .milliseconds(60))
    #expect(eventually { BootClock.now() > later })
    turn.renew()
    #expect(try #require(file.report().holder?.since) > began)
    turn.finish()
  }
}
