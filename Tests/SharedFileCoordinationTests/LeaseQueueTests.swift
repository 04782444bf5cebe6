import SharedFileCoordination
import Testing

@Suite struct LeaseQueueTests {
  typealias Entry = LeaseQueue.Entry

  @Test func `the line is in order of ticket, then slot, without the passed over`() {
    let entries = [
      Entry(slot: 4, ticket: 30), Entry(slot: 2, ticket: 10), Entry(slot: 1, ticket: 10),
      Entry(slot: 0, ticket: 5, passedOver: 5), Entry(slot: 3, ticket: 0),
    ]
    #expect(LeaseQueue.line(entries, without: nil).map(\.slot) == [1, 2, 4])
    #expect(LeaseQueue.line(entries, without: 1).map(\.slot) == [2, 4])
  }

  @Test func `a mark for an older ticket does not pass the new one over`() {
    #expect(Entry(slot: 0, ticket: 7, passedOver: 5).counts)
    #expect(!Entry(slot: 0, ticket: 5, passedOver: 5).counts)
    #expect(!Entry(slot: 0, ticket: 0).counts)
  }

  private func look(
    _ waiter: inout LeaseWaiter, _ entries: [Entry], live: Set<Int> = [0, 1, 2, 3], free: Bool,
    stopped: Set<Int> = [], turn: UInt64 = 1, at now: UInt64
  ) -> LeaseWaiter.Action {
    waiter.look(
      LeaseWaiter.Look(entries: entries, turnNumber: turn, now: now),
      isLive: { live.contains($0) }, leaseIsFree: { free }, isStopped: { stopped.contains($0) })
  }

  private func waiter(_ slot: Int, _ ticket: UInt64) -> LeaseWaiter {
    LeaseWaiter(slot: slot, ticket: ticket, lookInterval: 20_000_000, patience: 100_000_000)
  }

  @Test func `the first in line tries`() {
    var first = waiter(1, 10)
    let entries = [Entry(slot: 1, ticket: 10), Entry(slot: 2, ticket: 11)]
    #expect(look(&first, entries, free: false, at: 100) == .tryLock(passingOver: []))
    #expect(first.lockWasTaken() == .wait(nanoseconds: 20_000_000))
    #expect(first.waitersBefore == 0)
  }

  @Test func `a dead waiter is nobody's obstacle`() {
    var second = waiter(2, 11)
    let entries = [Entry(slot: 1, ticket: 10), Entry(slot: 2, ticket: 11)]
    #expect(look(&second, entries, live: [2], free: false, at: 1) == .tryLock(passingOver: []))
  }

  @Test func `the second waits while the lease is held`() {
    var second = waiter(2, 11)
    let entries = [Entry(slot: 1, ticket: 10), Entry(slot: 2, ticket: 11)]
    #expect(look(&second, entries, free: false, at: 1) == .wait(nanoseconds: 20_000_000))
    #expect(second.waitersBefore == 1)
  }

  @Test func `those far behind look less often`() {
    var last = waiter(3, 50)
    let entries = (0..<4).map { Entry(slot: $0, ticket: UInt64(10 + $0)) }
    let line = entries.dropLast() + [Entry(slot: 3, ticket: 50)]
    #expect(look(&last, Array(line), free: false, at: 1) == .wait(nanoseconds: 60_000_000))
  }

  @Test func `a wait that has lasted long looks less often, be it the first in line`() {
    var first = waiter(1, 10)
    let entries = [Entry(slot: 1, ticket: 10)]
    #expect(look(&first, entries, free: false, at: 1000) == .tryLock(passingOver: []))
    #expect(first.lockWasTaken() == .wait(nanoseconds: 20_000_000))
    _ = look(&first, entries, free: false, at: 999_999_999)
    #expect(first.lockWasTaken() == .wait(nanoseconds: 20_000_000))
    _ = look(&first, entries, free: false, at: 1_000_001_000)
    #expect(first.lockWasTaken() == .wait(nanoseconds: 100_000_000))
  }

  @Test func `a lease that lies free for ten milliseconds is taken past those who are stopped`() {
    var third = waiter(3, 12)
    let front = [Entry(slot: 1, ticket: 10), Entry(slot: 2, ticket: 11)]
    let entries = front + [Entry(slot: 3, ticket: 12)]
    func look(_ stopped: Set<Int>, _ now: UInt64) -> LeaseWaiter.Action {
      self.look(&third, entries, free: true, stopped: stopped, at: now)
    }
    #expect(look([1, 2], 1000) == .wait(nanoseconds: 10_000_000))
    #expect(look([1, 2], 4_001_000) == .wait(nanoseconds: 6_000_000))
    #expect(look([1], 10_001_000) == .wait(nanoseconds: 10_000_000))
    #expect(look([1, 2], 10_001_000) == .tryLock(passingOver: front))
  }

  @Test func `a lease that lies free for the whole patience is taken past anybody`() {
    var second = waiter(2, 11)
    let first = Entry(slot: 1, ticket: 10)
    let entries = [first, Entry(slot: 2, ticket: 11)]
    #expect(look(&second, entries, free: true, at: 0) == .wait(nanoseconds: 10_000_000))
    #expect(look(&second, entries, free: true, at: 95_000_000) == .wait(nanoseconds: 5_000_000))
    #expect(look(&second, entries, free: true, at: 100_000_000) == .tryLock(passingOver: [first]))
  }

  @Test(arguments: [(2 as UInt64, true), (1, false)])
  func `a turn or a holder between two free looks starts the patience anew`(
    turn: UInt64, free: Bool
  ) {
    var second = waiter(2, 11)
    let entries = [Entry(slot: 1, ticket: 10), Entry(slot: 2, ticket: 11)]
    _ = look(&second, entries, free: true, turn: 1, at: 0)
    _ = look(&second, entries, free: free, turn: turn, at: 5_000_000)
    let action = look(&second, entries, free: true, stopped: [1], turn: turn, at: 10_000_000)
    #expect(action != .tryLock(passingOver: [Entry(slot: 1, ticket: 10)]))
  }

  @Test func `who was passed over takes a new ticket`() {
    var stopped = waiter(1, 10)
    let entries = [Entry(slot: 1, ticket: 10, passedOver: 10)]
    #expect(look(&stopped, entries, free: true, at: 1) == .takeNewTicket)
    stopped.tookTicket(99)
    #expect(
      look(&stopped, [Entry(slot: 1, ticket: 99, passedOver: 10)], free: true, at: 2)
        == .tryLock(passingOver: []))
  }

  @Test func `an entry that was lost with the file's content is written again`() {
    var first = waiter(1, 10)
    #expect(look(&first, [], free: true, at: 1) == .writeAgain)
    #expect(look(&first, [Entry(slot: 1, ticket: 3)], free: true, at: 1) == .writeAgain)
  }
}
