import SharedFileCoordination
import Testing

@Suite struct BellScheduleTests {
  private let start: UInt64 = 1_000_000_000_000

  private func at(_ milliseconds: UInt64) -> BootClock.Instant {
    BootClock.Instant(nanoseconds: start + milliseconds * 1_000_000)
  }

  private func observed() -> BellSchedule {
    var schedule = BellSchedule(pollInterval: .milliseconds(250))
    schedule.note(.observed, at: at(0))
    schedule.note(.foundNothing, at: at(0))
    return schedule
  }

  @Test func `nobody looks while nobody observes`() {
    var schedule = BellSchedule(pollInterval: .milliseconds(250))
    for event in [
      BellSchedule.Event.rung, .logWritten, .foundNews, .foundNothing, .unobserved,
    ] {
      schedule.note(event, at: at(1))
      #expect(schedule.nextLook == nil)
    }
  }

  @Test func `the first look is at once, the next a poll interval later`() {
    var schedule = BellSchedule(pollInterval: .milliseconds(250))
    schedule.note(.observed, at: at(0))
    #expect(schedule.isDue(at: at(0)))
    schedule.note(.foundNothing, at: at(3))
    #expect(schedule.nextLook == at(253))
  }

  @Test func `a bell asks for a look at once`() {
    var schedule = observed()
    schedule.note(.rung, at: at(7))
    #expect(schedule.nextLook == at(7))
  }

  @Test func `after a write to the log looks come at 1, 4, 16, 64 milliseconds, then the poll`() {
    var schedule = observed()
    schedule.note(.logWritten, at: at(10))
    var seen: [UInt64] = []
    for _ in 0..<6 {
      guard let next = schedule.nextLook else { break }
      seen.append((next.nanoseconds - start) / 1_000_000)
      schedule.note(.foundNothing, at: next)
    }
    // 256 ms and more are the poll's business with this interval.
    #expect(seen == [11, 15, 31, 95, 345, 595])
  }

  @Test func `news end the row of looks`() {
    var schedule = observed()
    schedule.note(.logWritten, at: at(10))
    schedule.note(.foundNews, at: at(11))
    #expect(schedule.nextLook == at(261))
    schedule.note(.foundNothing, at: at(261))
    #expect(schedule.nextLook == at(511))
  }

  @Test func `a write to the log never puts a look off`() {
    var schedule = observed()
    schedule.note(.rung, at: at(10))
    schedule.note(.logWritten, at: at(10))
    #expect(schedule.nextLook == at(10))
    var other = observed()
    other.note(.logWritten, at: at(10))
    other.note(.logWritten, at: at(10))
    #expect(other.nextLook == at(11))
  }

  @Test func `a later write to the log pulls a far look close again`() {
    var schedule = observed()
    schedule.note(.logWritten, at: at(0))
    for time in [1, 5, 21] { schedule.note(.foundNothing, at: at(UInt64(time))) }
    #expect(schedule.nextLook == at(85))
    schedule.note(.logWritten, at: at(30))
    #expect(schedule.nextLook == at(31))
  }

  @Test func `whatever happens, an observer looks within the poll interval`() {
    let events: [BellSchedule.Event] = [.rung, .logWritten, .foundNews, .foundNothing]
    var state: UInt64 = 88_172_645_463_325_252
    var schedule = observed()
    var now: UInt64 = 0
    for _ in 0..<2000 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      schedule.note(events[Int(state % 4)], at: at(now))
      guard let next = schedule.nextLook else {
        Issue.record("no look")
        return
      }
      #expect(next <= at(now + 250))
      now += state % 40
      if next < at(now) { schedule.note(.foundNothing, at: at(now)) }
    }
  }
}
