import StressFaults
import Testing

/// The plan of a run's faults.
@Suite struct FaultPlanTests {
  private func plan(
    _ kinds: [FaultKind] = FaultKind.allCases, seconds: Double = 60, processes: Int = 4,
    seed: UInt64 = 7
  ) -> [FaultEvent] {
    FaultPlan.faults(of: kinds, seconds: seconds, processes: processes, seed: seed)
  }

  @Test func `the same seed gives the same faults, however the kinds are ordered`() {
    #expect(plan() == plan())
    #expect(plan() == plan(FaultKind.allCases.reversed()))
    #expect(plan() != plan(seed: 8))
  }

  @Test func `a minute sees every kind, and no fault outlasts the run`() {
    for seed in UInt64(1)...20 {
      let faults = plan(seed: seed)
      #expect(Set(faults.map(\.kind)) == Set(FaultKind.allCases))
      #expect(faults.allSatisfy { $0.time >= 0 && $0.time + $0.duration <= 60 })
    }
  }

  @Test func `two of one kind for one process do not overlap`() {
    for seed in UInt64(1)...20 {
      var ends: [String: Double] = [:]
      for fault in plan([.pause, .ioError, .slowDisk], processes: 2, seed: seed) {
        let place = "\(fault.kind) \(fault.target ?? -1)"
        #expect(fault.time >= ends[place] ?? 0)
        ends[place] = fault.time + fault.duration
      }
    }
  }

  @Test func `64 processes are all in reach`() {
    let targets = Set(plan([.kill], seconds: 600, processes: 64).compactMap(\.target))
    #expect(targets.count > 48)
    #expect(targets.allSatisfy { 0..<64 ~= $0 })
  }

  @Test func `no kinds and no time give no faults`() {
    #expect(plan([]).isEmpty)
    #expect(plan(seconds: 0.2).isEmpty)
  }

  @Test func `a fault is described in words`() {
    let pause = FaultEvent(kind: .pause, time: 1, duration: 0.3, target: 2)
    #expect("\(pause)" == "pause of process 2 for 0.3 s")
    #expect("\(FaultEvent(kind: .powerCut, time: 1))" == "power cut")
  }
}
