// The line of those who wait for the write lease, as a pure machine: no file, no clock, no lock.
//
// For: turns in order of arrival, without a process that could block the line by being stopped or
// killed at any instruction.
//
// Invariants
//  1. A ticket is the boot clock's reading at arrival; ties go to the lower slot. So taking one
//     needs nobody's consent: there is no counter to lock, hence no latch to die or be stopped in.
//     (A counter behind a latch byte was the first plan; a process stopped inside it stops all.)
//     Who yields takes the reading of a later moment: whoever arrives before that moment goes first,
//     and whoever arrives after it does not, so it yields but not for ever. Until then its ticket
//     lies in the future and is no reason to hand the lease over, or to queue up behind.
//  2. Nobody takes the lease past a live waiter with an older ticket, except one that did not take
//     it though it was free (invariant 3).
//  3. Who was free to go and did not go is passed over: a later waiter that finds the lease free on
//     two looks, and no turn between them, goes, and marks those before it. Marked entries are
//     nobody's obstacle. The marked process, when it runs again, takes a new ticket. Between the
//     looks lie 10 ms when those before it are seen to be stopped, else `patience`: on a machine
//     with more to do than processors a healthy waiter is easily kept from running for 10 ms, and
//     losing its place for that would punish the slow.
//
// Steps of a waiter: write ticket → look → (first: try the lock | else: wait) → … → lock taken →
// ticket cleared.
//
// Death after any step: the kernel frees the presence byte; an entry of a slot without presence is
// skipped by everybody, and zeroed by the next holder that sees it.
// A stop after any step: before the ticket: nobody knows. With a ticket and not first: skipped when
// its time comes, by invariant 3. First: the same, after `patience` and one look interval.

/// The queue table's entries and what follows from them.
package enum LeaseQueue {
  /// One slot's place in line.
  package struct Entry: Sendable, Equatable {
    package var slot: Int
    /// Boot clock reading at arrival, or at the moment until which it yields; 0 when the slot does not wait.
    package var ticket: UInt64
    /// Equal to the ticket when the waiter was passed over; with `yieldsMark`, when one that yields arrived.
    package var passedOver: UInt64

    /// Set in `passedOver` by one that yields; the boot clock does not get there in 292 years.
    package static let yieldsMark: UInt64 = 1 << 63

    package init(slot: Int, ticket: UInt64, passedOver: UInt64 = 0) {
      self.slot = slot
      self.ticket = ticket
      self.passedOver = passedOver
    }

    /// Whether the entry is one that others have to respect, if its owner lives.
    package var counts: Bool { ticket != 0 && passedOver != ticket }

    /// Whether it took a ticket of a later moment than its arrival.
    package var yields: Bool { counts && passedOver & Self.yieldsMark != 0 }

    /// When it arrived.
    package var arrival: UInt64 { yields ? passedOver & ~Self.yieldsMark : ticket }

    /// Whether this entry comes before another in line.
    package func isBefore(_ other: Entry) -> Bool {
      (ticket, slot) < (other.ticket, other.slot)
    }
  }

  /// Returns the entries that count, first in line first; `without` is left out.
  package static func line(_ entries: [Entry], without slot: Int?) -> [Entry] {
    entries.filter { $0.counts && $0.slot != slot }.sorted { $0.isBefore($1) }
  }

  /// Returns those that stand before an entry and are alive, first in line first.
  ///
  /// - Complexity: One question for life per entry that stands before.
  package static func waiters(
    before mine: Entry, in entries: [Entry], isLive: (Int) -> Bool
  ) -> [Entry] {
    line(entries, without: mine.slot).filter { $0.isBefore(mine) && isLive($0.slot) }
  }
}

/// One waiter's view of the line from look to look.
package struct LeaseWaiter: Sendable {
  /// What to do after a look.
  package enum Action: Sendable, Equatable {
    /// Try the lease's byte; once it is had, mark these as passed over.
    case tryLock(passingOver: [LeaseQueue.Entry])
    /// Wait for a wake-up, but look again after so many nanoseconds.
    case wait(nanoseconds: UInt64)
    /// Write the same ticket again: the entry was lost with the file's content.
    case writeAgain
    /// Take a new ticket: this process was passed over.
    case takeNewTicket
  }

  /// What a look saw.
  package struct Look: Sendable {
    package var entries: [LeaseQueue.Entry]
    package var turnNumber: UInt64
    package var now: UInt64

    package init(entries: [LeaseQueue.Entry], turnNumber: UInt64, now: UInt64) {
      self.entries = entries
      self.turnNumber = turnNumber
      self.now = now
    }
  }

  /// How long the lease has to lie free before those in front, seen to be stopped, are passed over.
  package static let stoppedPatience: UInt64 = 10_000_000

  private let slot: Int
  private var ticket: UInt64
  /// A wait that has lasted so long is likely to last; from then on looks are rarer.
  package static let longWait: UInt64 = 1_000_000_000
  private static let longWaitFactor: UInt64 = 5

  private let lookInterval: UInt64
  private let patience: UInt64
  private var firstLook: UInt64?
  private var lastLook: UInt64 = 0
  private var freeSince: (instant: UInt64, turn: UInt64)?

  /// How many live waiters stood before this one at the last look.
  package private(set) var waitersBefore = 0

  /// Makes a waiter that has just written its ticket.
  package init(slot: Int, ticket: UInt64, lookInterval: UInt64, patience: UInt64) {
    self.slot = slot
    self.patience = max(Self.stoppedPatience, patience)
    self.ticket = ticket
    self.lookInterval = max(1_000_000, lookInterval)
  }

  /// Notes that a new ticket was written.
  package mutating func tookTicket(_ ticket: UInt64) {
    self.ticket = ticket
    freeSince = nil
  }

  /// Decides what follows from a look at the table.
  ///
  /// - Parameters:
  ///   - isLive: Whether a slot's presence byte is locked.
  ///   - leaseIsFree: Whether the lease's byte is free; asked only when others stand before.
  ///   - isStopped: Whether a slot's owner is stopped; asked only when the lease lies free.
  package mutating func look(
    _ look: Look, isLive: (Int) -> Bool, leaseIsFree: () -> Bool, isStopped: (Int) -> Bool
  ) -> Action {
    if firstLook == nil { firstLook = look.now }
    lastLook = look.now
    let written = look.entries.first { $0.slot == slot }
    guard let written, written.ticket == ticket else { return .writeAgain }
    if !written.counts { return .takeNewTicket }
    let before = LeaseQueue.waiters(before: written, in: look.entries, isLive: isLive)
    waitersBefore = before.count
    if before.isEmpty {
      freeSince = nil
      return .tryLock(passingOver: [])
    }
    guard leaseIsFree() else {
      freeSince = nil
      return .wait(nanoseconds: interval(position: before.count))
    }
    guard let free = freeSince, free.turn == look.turnNumber else {
      freeSince = (look.now, look.turnNumber)
      return .wait(nanoseconds: Self.stoppedPatience)
    }
    let elapsed = look.now &- free.instant
    if elapsed < Self.stoppedPatience { return .wait(nanoseconds: Self.stoppedPatience - elapsed) }
    if elapsed >= patience || before.allSatisfy({ isStopped($0.slot) }) {
      return .tryLock(passingOver: before)
    }
    return .wait(nanoseconds: min(Self.stoppedPatience, patience - elapsed))
  }

  /// What to do when the try for the lock failed: somebody has it.
  package mutating func lockWasTaken() -> Action {
    freeSince = nil
    return .wait(nanoseconds: interval(position: 1))
  }

  /// The second in line looks as often as the first, since it is the one that notices a stopped
  /// first; those behind look less often, so that a long line costs little.
  private func interval(position: Int) -> UInt64 {
    let waited = lastLook &- (firstLook ?? lastLook)
    let least = waited < Self.longWait ? 1 : Self.longWaitFactor
    return lookInterval * min(10, max(least, UInt64(max(1, position))))
  }
}
