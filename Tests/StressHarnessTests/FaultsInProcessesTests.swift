import FaultPoints
import Foundation
import Glibc
import ProcessHarness
import StressFaults
import StressHarness
import TestDatabase
import Testing

/// What is done to processes and their surroundings.
@Suite(.aloneInProcess, .timeLimit(.minutes(5)))
struct FaultsInProcessesTests {
  @Test func `no descriptor is left`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      let record = try await bench.during(
        FaultEvent(kind: .descriptorLimit, time: 0, target: 0, value: 0), victim: probe
      ) {
        let answer = try await probe.ask("descriptor")
        #expect(answer == "\(EMFILE)")
      }
      #expect(record.didStrike)
      #expect(try await probe.ask("descriptor") == "0")
    }
  }

  @Test func `no thread is left, or it is said that they could not be limited`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      let answer = Answer()
      let record = try await bench.during(
        FaultEvent(kind: .processLimit, time: 0, target: 0, value: 0), victim: probe
      ) {
        await answer.set(try await probe.ask("thread"))
      }
      // Where the limit is not to be had the fault does not last, and nobody asks.
      let text = await answer.text
      #expect(record.didStrike == (text == "\(EAGAIN)"), "\(record.text)")
      #expect(try await probe.ask("thread") == "0")
    }
  }

  private actor Answer {
    var text = ""
    func set(_ text: String) { self.text = text }
  }

  @Test func `inotify gives no watch`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      let record = try await bench.during(
        FaultEvent(kind: .inotifyLimit, time: 0, target: 0, value: 0), victim: probe
      ) {
        let answer = try await probe.ask("watch /tmp")
        #expect(answer == "\(EMFILE)")
      }
      #expect(record.didStrike)
      #expect(try await probe.ask("watch /tmp") == "0")
    }
  }

  @Test func `the queue of a watch overflows`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      let event = FaultEvent(kind: .inotifyOverflow, time: 0, target: 0)
      #expect(try await bench.injector.strike(event, victim: probe.process).didStrike == false)
      let directory = URL(filePath: bench.database).deletingLastPathComponent().path
      #expect(try await probe.ask("watch \(directory)") == "0")
      #expect(try await bench.injector.strike(event, victim: probe.process).didStrike)
      #expect(try await probe.ask("lost") == "1")
    }
  }

  @Test
  func
    `two queues do not overflow at once, which would keep the second process stopped for as long`()
    async throws
  {
    try await FaultBench.with { bench in
      let directory = URL(filePath: bench.database).deletingLastPathComponent().path
      let probes = [try await bench.probe(), try await bench.probe()]
      for probe in probes { #expect(try await probe.ask("watch \(directory)") == "0") }
      async let first = bench.injector.strike(
        FaultEvent(kind: .inotifyOverflow, time: 0, target: 0), victim: probes[0].process)
      async let second = bench.injector.strike(
        FaultEvent(kind: .inotifyOverflow, time: 0, target: 1), victim: probes[1].process)
      let strikes = try await [first.didStrike, second.didStrike]
      #expect(strikes.filter { $0 }.count == 1)
    }
  }

  @Test func `the clock of the day steps for Foundation, and waits stay what they are`()
    async throws
  {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      func date() async throws -> Int { Int(try await probe.ask("date")) ?? 0 }
      let day = 86_400_000
      let before = try await date()
      let record = try await bench.during(FaultEvent(kind: .clockStep, time: 0, value: 8)) {
        let stepped = Int(try await probe.ask("date")) ?? 0
        #expect(stepped - before > 39 * day && stepped - before < 41 * day)
        // A wait that believed the clock would end in forty days; the harness has a bound.
        _ = try await probe.ask("wait")
      }
      #expect(record.didStrike)
      #expect(try await date() - before < day)
    }
  }

  @Test func `a process is killed at the place that is named`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      let index = try #require(FaultPoint.allCases.firstIndex(of: .betweenCommitAndBell))
      let event = FaultEvent(
        kind: .killAtPoint, time: 0, duration: 100, target: 0, value: index)
      async let record = bench.injector.strike(event, victim: probe.process)
      // Only the named place kills; until the event is known every place is passed.
      while (try? await probe.ask("point beforeCommit")) != nil,
        (try? await probe.ask("point betweenCommitAndBell")) != nil
      {}
      #expect(try await probe.process.exit() == .signalled(SIGKILL))
      #expect(try await record.didStrike)
      #expect(try await record.text == "at betweenCommitAndBell")
    }
  }

  @Test func `a lock file that is tampered with is another one afterwards`() async throws {
    for value in 0..<7 {
      try await FaultBench.with { bench in
        let path = bench.database + "-lock"
        #expect(
          FileManager.default.createFile(atPath: path, contents: Data(count: 8192)))
        @Sendable func facts() -> [Int] {
          var facts = stat()
          guard stat(path, &facts) == 0 else { return [] }
          return [
            Int(facts.st_ino), Int(facts.st_size), Int(facts.st_mode),
            FileManager.default.contents(atPath: path)?.hashValue ?? 0,
          ]
        }
        let before = facts()
        let record = try await bench.during(
          FaultEvent(kind: .lockFileTampering, time: 0, value: value)
        ) {
          #expect(facts() != before)
        }
        #expect(record.didStrike)
      }
    }
  }

  @Test func `ending all ends what is going on`() async throws {
    try await FaultBench.with { bench in
      let probe = try await bench.probe()
      try await probe.open(bench.database)
      let record = try await bench.during(
        FaultEvent(kind: .ioError, time: 0, target: 0, value: 644)
      ) {
        let during = try await probe.code("CREATE TABLE t (x)")
        await bench.injector.endAll()
        let after = try await probe.code("CREATE TABLE t (x)")
        #expect(during == 10 && after == 0)
      }
      #expect(record.didStrike)
    }
  }

  @Test(.enabled(if: hasFaultPoints))
  func `each fault point is reached by the operation that it names`() async throws {
    let directory = try TestDirectory()
    let reached = try await withChildProcesses { children in
      let process = try await children.start(
        built: "boutique-stress", [PointProbe.option, directory.path])
      #expect(try await process.exit() == .exited(0))
      var reached: [String: Set<FaultPoint>] = [:]
      for line in process.takeLines() {
        let words = line.split(separator: " ").map(String.init)
        reached[words[0]] = Set(words.dropFirst().compactMap(FaultPoint.init))
      }
      return reached
    }
    let write: Set<FaultPoint> = [
      .beforeLease, .afterLease, .afterBegin, .beforeCommit, .betweenCommitAndBell,
      .beforeAcknowledgement, .beforeRelease, .duringRelease,
    ]
    // Without more: nothing else is reached by a write.
    #expect(reached["write"] == write)
    let named: [String: Set<FaultPoint>] = [
      "open": [.inOpening, .inMigration, .makingLockFile],
      "checkpoint": [.beforeCheckpoint, .afterCheckpoint], "prune": [.inPruning],
      "adopt": [.inAdoption], "acknowledge": [.inConsumerAcknowledgement, .beforeDelivery],
      "rotate": [.inKeyRotation, .beforeKeyRotationEnds],
    ]
    for (doing, points) in named {
      #expect(reached[doing]?.isSuperset(of: points) == true, "\(doing): \(reached[doing] ?? [])")
    }
    let all = named.values.reduce(write) { $0.union($1) }
    #expect(all == Set(FaultPoint.allCases), "every point is named by an operation")
  }
}
