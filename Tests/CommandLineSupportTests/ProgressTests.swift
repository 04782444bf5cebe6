import CommandLineSupport
import Synchronization
import Testing

@Suite struct ProgressMeterTests {
  @Test func `rate and time left follow from what was done`() {
    var meter = ProgressMeter(unit: "row", totalBytes: 10_000)
    meter.update(count: 1000, bytes: 2000, elapsed: .seconds(1))
    #expect(meter.text == "1,000 rows  20%  1,000 rows/s  0:04 left")
    meter.update(count: 5000, bytes: 10_000, elapsed: .seconds(5))
    #expect(meter.secondsLeft == 0)
    #expect(meter.summary == "5,000 rows in 5.0 s (1,000 rows/s)")
  }

  @Test func `one is one`() {
    var meter = ProgressMeter(unit: "row", totalBytes: nil)
    meter.update(count: 1, bytes: 1, elapsed: .seconds(1))
    #expect(meter.text == "1 row  1 row/s")
    #expect(meter.summary == "1 row in 1.0 s (1 row/s)")
  }

  @Test func `without a total there is no percentage and no time left`() {
    var meter = ProgressMeter(unit: "row", totalBytes: nil)
    meter.update(count: 50, bytes: 900, elapsed: .milliseconds(500))
    #expect(meter.text == "50 rows  100 rows/s")
  }

  @Test func `a job that stands still promises nothing`() {
    var meter = ProgressMeter(unit: "row", totalBytes: 1000)
    meter.update(count: 0, bytes: 0, elapsed: .seconds(3))
    #expect(meter.secondsLeft == nil)
    #expect(meter.text == "0 rows  0%  0 rows/s")
  }

  @Test func `the shown rate moves towards the new one`() {
    var meter = ProgressMeter(unit: "row", totalBytes: 1_000_000)
    meter.update(count: 1000, bytes: 1000, elapsed: .seconds(1))
    meter.update(count: 1100, bytes: 1100, elapsed: .seconds(2))
    let early = meter.secondsLeft ?? 0
    for second in 3...40 {
      meter.update(count: 1100, bytes: 1100 + Int64(second), elapsed: .seconds(second))
    }
    #expect((meter.secondsLeft ?? .max) > early * 10)
  }

  @Test func `a file that grew while it was read is done, not more than done`() {
    var meter = ProgressMeter(unit: "row", totalBytes: 100)
    meter.update(count: 1, bytes: 150, elapsed: .seconds(1))
    #expect(meter.fraction == 1)
    #expect(meter.secondsLeft == 0)
  }

  @Test(
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1234, "-1,234"),
      (Int64.min, "-9,223,372,036,854,775,808"),
    ] as [(Int64, String)])
  func `digits are grouped`(number: Int64, text: String) {
    #expect(ProgressMeter.grouped(number) == text)
  }

  @Test func `long times are written with hours`() {
    var meter = ProgressMeter(unit: "row", totalBytes: 100_000)
    meter.update(count: 1, bytes: 10, elapsed: .seconds(1))
    #expect(meter.text.hasSuffix("2:46:39 left"))
  }
}

@Suite struct ProgressLineTests {
  /// A clock that the test moves and a screen that remembers what was written.
  private final class Stage: Sendable {
    private let state = Mutex((time: Duration.zero, written: [String]()))

    var now: Duration { state.withLock { $0.time } }
    var written: [String] { state.withLock { $0.written } }

    func advance(_ duration: Duration) { state.withLock { $0.time += duration } }
    func write(_ text: String) { state.withLock { $0.written.append(text) } }
  }

  private func line(_ stage: Stage, isTerminal: Bool, columns: String = "80") -> ProgressLine {
    ProgressLine(
      unit: "row", totalBytes: 1000,
      style: TerminalStyle(isTerminal: isTerminal, size: nil, environment: ["COLUMNS": columns]),
      now: { stage.now }, write: { stage.write($0) })
  }

  @Test func `a terminal line is drawn over itself and wiped at the end`() {
    let stage = Stage()
    let progress = line(stage, isTerminal: true)
    for step in 1...10 {
      stage.advance(.milliseconds(40))
      progress.update(count: Int64(step), bytes: Int64(step * 10))
    }
    #expect(stage.written.count == 3)
    #expect(stage.written.allSatisfy { $0.hasPrefix("\r") && $0.hasSuffix("\u{1B}[K") })
    #expect(progress.finish(count: 10, bytes: 1000) == "10 rows in 0.4 s (25 rows/s)")
    #expect(stage.written.last == "\r\u{1B}[K")
  }

  @Test func `a terminal line never reaches the last column`() {
    let stage = Stage()
    let progress = line(stage, isTerminal: true, columns: "12")
    stage.advance(.seconds(1))
    progress.update(count: 123_456, bytes: 10)
    #expect(stage.written == ["\r123,456 ro…\u{1B}[K"])
  }

  @Test func `elsewhere there is a plain line now and then`() {
    let stage = Stage()
    let progress = line(stage, isTerminal: false)
    for step in 1...120 {
      stage.advance(.milliseconds(100))
      progress.update(count: Int64(step), bytes: Int64(step))
    }
    #expect(stage.written.count == 2)
    #expect(stage.written.allSatisfy { $0.hasSuffix("left\n") && !$0.contains("\u{1B}") })
    _ = progress.finish(count: 120, bytes: 120)
    #expect(stage.written.count == 2)
  }

  @Test func `a quick job says nothing and wipes nothing`() {
    let stage = Stage()
    let progress = line(stage, isTerminal: true)
    progress.update(count: 1, bytes: 1)
    progress.clear()
    #expect(stage.written.isEmpty)
  }
}
