import Foundation
import ProcessHarness
import StressFaults
import Testing

/// The power cut takes what was not synced, and nothing else.
@Suite(.aloneInProcess, .timeLimit(.minutes(10)))
struct FaultsPowerCutTests {
  /// Three processes write until they are killed; returns how many commits each was told of.
  private func writeAndDie(_ bench: FaultBench, synchronous: String) async throws -> [Int] {
    let first = try await bench.probe()
    try await first.open(bench.database, synchronous: synchronous)
    #expect(
      try await first.code(
        "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY AUTOINCREMENT, who, n, x)") == 0)
    #expect(try await first.code("DELETE FROM t") == 0)
    // Small, so that the log is moved into the database and begun anew while they write.
    var probes = [first]
    for place in 1..<3 { probes.append(try await bench.probe(place: place)) }
    for (place, probe) in probes.enumerated() {
      try await probe.open(bench.database, synchronous: synchronous)
      #expect(try await probe.code("PRAGMA wal_autocheckpoint = 20") == 0)
      probe.process.send(
        "each 100000 INSERT INTO t (who, n, x) SELECT \(place), "
          + "1 + (SELECT count(*) FROM t WHERE who = \(place)), randomblob(3000)")
    }
    // Of one: SQLite's busy handler is not fair, and nothing here depends on everybody's turn.
    _ = try await first.process.next("its tenth commit", within: .seconds(240)) {
      $0.text == "10"
    }
    for probe in probes { probe.process.kill() }
    var counts: [Int] = []
    for (place, probe) in probes.enumerated() {
      await probe.process.end()
      let heard = probe.process.takeLines().compactMap { Int($0) }.max() ?? 0
      counts.append(max(place == 0 ? 10 : 0, heard))
    }
    return counts
  }

  /// What is there after the cut: whole, and of each process its first commits without a gap.
  private func left(_ bench: FaultBench) async throws -> [Int] {
    let probe = try await bench.probe()
    try await probe.open(bench.database)
    #expect(
      try await probe.value(
        "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
    var counts: [Int] = []
    for place in 0..<3 {
      let count = try await probe.value("SELECT count(*) FROM t WHERE who = \(place)")
      let last = try await probe.value(
        "SELECT coalesce(max(n), 0) FROM t WHERE who = \(place)")
      #expect(count == last)
      counts.append(count)
    }
    await probe.process.end()
    return counts
  }

  @Test func `every commit that was acknowledged under FULL survives`() async throws {
    try await FaultBench.with([.powerCut]) { bench in
      for seed in 1...8 {
        let acknowledged = try await writeAndDie(bench, synchronous: "FULL")
        let text = try await bench.injector.cutPower(seed: UInt64(seed))
        let left = try await left(bench)
        for (left, acknowledged) in zip(left, acknowledged) {
          #expect(left >= acknowledged, "seed \(seed): \(text)")
          // One more can have been committed than its writer lived to hear.
          #expect(left <= acknowledged + 1)
        }
      }
    }
  }

  @Test func `under NORMAL commits may go, and the file stays whole`() async throws {
    try await FaultBench.with([.powerCut]) { bench in
      var lost = 0
      for seed in 1...12 {
        let acknowledged = try await writeAndDie(bench, synchronous: "NORMAL")
        _ = try await bench.injector.cutPower(seed: UInt64(seed))
        let left = try await left(bench)
        lost += zip(left, acknowledged).map { max(0, $1 - $0) }.reduce(0, +)
      }
      #expect(lost > 0, "a cut that never takes anything is none")
    }
  }

  @Test func `without syncs the cut breaks the promise, so that the checks above can fail`()
    async throws
  {
    var harm = 0
    for seed in 1...6 {
      try await FaultBench.with([.powerCut]) { bench in
        let acknowledged = try await writeAndDie(bench, synchronous: "OFF")
        _ = try await bench.injector.cutPower(seed: UInt64(seed))
        let probe = try await bench.probe()
        guard try await probe.ask("open \(bench.database)") == "0" else {
          harm += 1
          return
        }
        let count = try await probe.value("SELECT count(*) FROM t")
        let isWhole = try await probe.value(
          "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'")
        if count < acknowledged.reduce(0, +) || isWhole != 1 { harm += 1 }
      }
    }
    #expect(harm > 0)
  }

  @Test func `a cut with nothing unsynced changes nothing`() async throws {
    try await FaultBench.with([.powerCut]) { bench in
      let probe = try await bench.probe()
      try await probe.open(bench.database)
      #expect(try await probe.code("CREATE TABLE t (x)") == 0)
      #expect(try await probe.code("INSERT INTO t VALUES (randomblob(5000))") == 0)
      await probe.process.end()
      func content() -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: bench.database + $0) }
      }
      let before = content()
      for seed in 1...10 {
        _ = try await bench.injector.cutPower(seed: UInt64(seed))
        #expect(content() == before)
      }
    }
  }
}
