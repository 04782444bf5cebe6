import StressFaults
import StressHistory
import StressReport
import Testing

/// Figures from histories of which they are known.
@Suite struct ReportFigureTests {
  // MARK: Histogram

  @Test func `a quantile is within a sixteenth of the true one, and the extremes are exact`() {
    var histogram = LogHistogram()
    var values: [Int64] = []
    var random = SeededRandom(seed: 1, purpose: "histogram")
    for _ in 0..<5000 {
      // Over nine powers of ten.
      let value = Int64(random.int(1...1_000_000_000)) >> Int64(random.int(0...29))
      values.append(value)
      histogram.add(value)
    }
    values.sort()
    #expect(histogram.count == 5000)
    #expect(histogram.quantile(0) == values.first.map { min($0, 1) })
    #expect(histogram.quantile(1) == values.last)
    for part in [0.1, 0.5, 0.9, 0.99] {
      let exact = Double(values[Int((part * 5000).rounded(.up)) - 1])
      let told = Double(histogram.quantile(part) ?? -1)
      #expect(abs(told - exact) <= exact / 16 + 1, "\(part): \(told) for \(exact)")
    }
  }

  @Test func `small values and the greatest of all are counted as they are`() {
    var histogram = LogHistogram()
    for value: Int64 in [0, 1, 15, 16, 17, .max, -3] { histogram.add(value) }
    #expect(histogram.count == 7)
    #expect(histogram.least == 0)
    #expect(histogram.greatest == .max)
    #expect(histogram.quantile(0.5) == 15)
    #expect(histogram.ranges(perDoubling: 4).reduce(0) { $0 + $1.count } == 7)
    #expect(LogHistogram().quantile(0.5) == nil)
    #expect(LogHistogram().ranges(perDoubling: 4).isEmpty)
  }

  @Test func `two histograms together are one of all values, also after writing and reading`()
    throws
  {
    var (left, right, both) = (LogHistogram(), LogHistogram(), LogHistogram())
    for value in stride(from: Int64(3), to: 3_000_000, by: 7919) {
      if value.isMultiple(of: 2) { left.add(value) } else { right.add(value * 50) }
      both.add(value.isMultiple(of: 2) ? value : value * 50)
    }
    left.add(right)
    #expect(left == both)
    #expect(try Saved.again(both) == both)
    #expect(try Saved.again(LogHistogram()) == LogHistogram())
  }

  @Test(arguments: [
    #"{"least":1,"greatest":9,"buckets":[9,1,1,1]}"#, #"{"least":9,"greatest":1,"buckets":[9,1]}"#,
    #"{"least":0,"greatest":900,"buckets":[9,1]}"#,
    #"{"least":0,"greatest":0,"buckets":[99999,1]}"#,
    #"{"least":0,"greatest":0,"buckets":[1,-1]}"#,
  ])
  func `a histogram that cannot be is refused`(text: String) {
    #expect(throws: DecodingError.self) { try Saved.decoded(LogHistogram.self, text) }
  }

  // MARK: Figures

  @Test func `operations, samples and faults of a known history give known figures`() {
    let figures = RunFigures(KnownRun.result)
    #expect(figures.seconds == 10)
    #expect(figures.outcomes.done == 40)
    #expect(figures.outcomes.refused == 2)
    #expect(figures.outcomes.unknown == 3)
    #expect(figures.perSecond == 4)
    #expect(figures.latency.count == 40)
    #expect(figures.latency.quantile(1) == 40_000_000)
    #expect(figures.lockWait.quantile(1) == 5_000_000)
    #expect(figures.greatestLog == 8192)
    #expect(figures.faults.map(\.kind) == [.kill, .pause])
    #expect(figures.faults.map(\.tried) == [2, 1])
    #expect(figures.faults.map(\.struck) == [1, 1])
    #expect(figures.kinds.map(\.name) == ["read", "write"])
    #expect(figures.troubles.map(\.subject) == ["open"])
    #expect(figures.troubles.map(\.count) == [2])
  }

  @Test func `a slot has what ended in it, and every operation is in one`() {
    let figures = RunFigures(KnownRun.result)
    #expect(figures.slots.reduce(0) { $0 + $1.outcomes.all } == figures.outcomes.all)
    #expect(figures.slots.count <= 160)
    // The operations end from the first second to the fourth, and one begins at 9 s and is never answered.
    let slot = Int(9 / figures.slotSeconds)
    #expect(figures.slots[slot].outcomes.unknown == 1)
    #expect(figures.slots[slot].latency.median == nil)
  }

  @Test
  func
    `processes that followed each other in a place count together, and a place that did nothing counts`()
  {
    let figures = RunFigures(KnownRun.result)
    #expect(figures.places.map(\.number) == [0, 1, 2])
    #expect(figures.places.map(\.starts) == [2, 1, 1])
    #expect(figures.places.map(\.outcomes.done) == [20, 20, 0])
    // Two of three did as much, the third nothing: two thirds by Jain's index.
    #expect(figures.fairness.map { abs($0 - 2.0 / 3) < 1e-9 } == true)
  }

  @Test func `a million operations take room for their slots only`() {
    var result = KnownRun.result
    result.ended = result.began + 3_600_000_000_000
    result.history.operations = (0..<1_000_000).map { index in
      let began = result.began + Int64(index) * 3_600_000
      return OperationRecord(
        process: index % 4, number: index, name: "write", steps: [], began: began,
        ended: began + Int64(index % 1000) * 1000, outcome: .done)
    }
    let figures = RunFigures(result)
    #expect(figures.outcomes.done == 1_000_000)
    #expect(figures.slots.count <= 160)
    #expect(figures.slots.reduce(0) { $0 + $1.outcomes.done } == 1_000_000)
  }

  // MARK: Text

  @Test(arguments: [
    (Int64(870), "870 ns"), (12_400, "12.4 µs"), (3_100_000, "3.1 ms"), (999_600_000, "1000 ms"),
    (2_500_000_000, "2.5 s"), (250_000_000_000, "4:10 min"),
  ])
  func `times are told with three figures`(nanoseconds: Int64, text: String) {
    #expect(FigureText.time(nanoseconds) == text)
  }

  @Test func `counts, rates and bytes are told shortly`() {
    #expect(FigureText.count(1_234_567) == "1,234,567")
    #expect(FigureText.amount(1, "process", plural: "processes") == "1 process")
    #expect(FigureText.amount(0, "fault") == "0 faults")
    #expect(FigureText.short(1540) == "1.54 k")
    #expect(FigureText.bytes(4096) == "4 KiB")
    #expect(FigureText.clock(3750) == "1:02:30")
  }

  // MARK: Plans

  @Test func `the time is divided among all workloads, and the faults of each have their turn`() {
    let faults = Array(FaultKind.allCases.prefix(7))
    let entries = ["a", "b", "c"].map { RunRotation.Entry(name: $0, faults: faults) }
    let rotation = RunRotation(entries: 3, seconds: 300)
    let plans = rotation.plans(of: entries, seed: 5) { $0.processes = 9 }
    #expect(rotation.rounds == 5)
    #expect(abs(plans.reduce(0) { $0 + $1.seconds } - 300) < 1e-6)
    #expect(plans.allSatisfy { $0.processes == 9 && $0.faults.count <= 3 })
    for name in ["a", "b", "c"] {
      let own = plans.filter { $0.workload == name }
      #expect(Set(own.flatMap(\.faults)) == Set(faults))
      #expect(own.contains { $0.faults.isEmpty })
      #expect(Set(own.map(\.seed)) == [5, 6, 7, 8, 9])
    }
    #expect(plans == rotation.plans(of: entries, seed: 5) { $0.processes = 9 })
  }

  @Test func `every kind of fault has a line`() {
    for kind in FaultKind.allCases { #expect(kind.summary != kind.rawValue, "\(kind)") }
  }
}
