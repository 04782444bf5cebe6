// When to look for new commits, as a pure machine: no clock, no thread, no file.
//
// For: every commit is noticed within a poll interval at worst and at once as a rule, and an idle
// database costs nothing but the poll.
//
// Invariants
//  1. While observed there is always a next look, at most one poll interval away.
//  2. A bell (or lost events) asks for a look at once: it is rung after its commit is visible.
//  3. A write to the log asks for looks after 1, 4, 16 … ms until one finds something: the event
//     comes when the frames are written, the commit is visible only when the index is, and between
//     the two lies a sync that can take long. Further writes meanwhile do not start the row anew
//     from its end, but pull the next look close: each may be the last before a commit.
//
// Not observed: no looks at all, whatever rings.

/// Turns events and looks into the instant of the next look.
package struct BellSchedule: Sendable, Equatable {
  /// What happens to the schedule.
  package enum Event: Sendable, Equatable {
    /// Somebody rang, events were lost, or files changed: the look is due now.
    case rung
    /// The log was written by somebody.
    case logWritten
    /// A look found something new.
    case foundNews
    /// A look found nothing new.
    case foundNothing
    /// Somebody observes now, and had better look.
    case observed
    /// Nobody observes any more.
    case unobserved
  }

  /// Delays of the looks after a write to the log, in milliseconds.
  package static let delays: [UInt64] = [1, 4, 16, 64, 256, 1000]

  /// How far apart the polls are, in nanoseconds.
  package let pollInterval: UInt64
  /// When to look next, nil while nobody observes.
  package private(set) var nextLook: BootClock.Instant?

  /// Which of the delays comes next, nil when no write to the log is being followed.
  private var step: Int?

  /// Makes a schedule that nobody observes.
  package init(pollInterval: Duration) {
    self.pollInterval = UInt64(max(1_000_000, pollInterval.clampedNanoseconds))
  }

  /// Whether a look is due.
  package func isDue(at now: BootClock.Instant) -> Bool {
    nextLook.map { $0 <= now } ?? false
  }

  /// Takes an event in.
  package mutating func note(_ event: Event, at now: BootClock.Instant) {
    switch event {
    case .observed:
      nextLook = now
    case .unobserved:
      nextLook = nil
      step = nil
    case .rung:
      guard nextLook != nil else { return }
      nextLook = now
    case .logWritten:
      guard let next = nextLook else { return }
      step = 0
      nextLook = min(next, after(milliseconds: Self.delays[0], now))
    case .foundNews:
      guard nextLook != nil else { return }
      step = nil
      nextLook = poll(now)
    case .foundNothing:
      guard nextLook != nil else { return }
      advance(now)
    }
  }

  private mutating func advance(_ now: BootClock.Instant) {
    guard let current = step else {
      nextLook = poll(now)
      return
    }
    let following = current + 1
    guard following < Self.delays.count else {
      step = nil
      nextLook = poll(now)
      return
    }
    step = following
    nextLook = min(after(milliseconds: Self.delays[following], now), poll(now))
  }

  private func after(milliseconds: UInt64, _ now: BootClock.Instant) -> BootClock.Instant {
    BootClock.Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000)
  }

  private func poll(_ now: BootClock.Instant) -> BootClock.Instant {
    BootClock.Instant(nanoseconds: now.nanoseconds + pollInterval)
  }
}
