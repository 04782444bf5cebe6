import StressFaults
import StressHistory
import StressReport
import TestDatabase
import Testing

/// Each workload runs for a short time with real processes and finds nothing; then something is done to its
/// database or its history, and its check must say so.
@Suite(.serialized, .aloneInProcess) struct WorkloadTests {
  @Test func `wide rows are whole, and a byte that differs is found`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short("wide-rows", in: directory, processes: 2)
    #expect(run.broken == [])
    let lost = try await run.checks { history in
      guard let place = history.operations.firstIndex(where: { $0.isDone("change") }) else {
        return
      }
      history.operations[place].steps = [
        Step(.set, history.operations[place].steps[0].key, .integer(1_000_000))
      ]
    }
    #expect(lost == ["lost commit"])
    let torn = try await run.checks(
      after: """
        UPDATE wide SET a_body = x'00' || substr(a_body, 2)
        WHERE id = (SELECT id FROM wide ORDER BY length(a_body) DESC LIMIT 1)
        """)
    #expect(torn == ["torn row"])
  }

  @Test func `half a transaction of a pair is found`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short("wide-rows", in: directory, faults: [], processes: 1)
    #expect(run.broken == [])
    let half = try await run.checks(
      after: "DELETE FROM wide WHERE id = (SELECT max(id) FROM wide)")
    #expect(half == ["torn row"])
  }

  @Test func `long readers see one moment, and a write that is lost is found`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short("long-readers", in: directory, seconds: 4)
    #expect(run.broken == [])
    let process = run.result.history.operations.first { $0.isDone("write") }?.process ?? -1
    let lost = try await run.checks(
      after: "UPDATE total SET hits = 0 WHERE id = \(process)")
    #expect(lost.contains("lost commit") && lost.contains("sums"))
  }

  @Test(arguments: [0, 1, 2] as [UInt64])
  func `foreign writers and ours agree, and an entry that is lost is found`(
    _ seed: UInt64
  ) async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short(
      "foreign-writers", in: directory, seconds: 4, seed: seed)
    #expect(run.broken == [])
    let future = try await run.checks { history in
      guard let place = history.operations.lastIndex(where: { $0.isDone("look") }) else { return }
      history.operations[place].steps = [Step(.read, "0", .integer(1_000_000))]
    }
    #expect(future == ["read from the future"])
    let stale = try await run.checks { history in
      guard let place = history.operations.lastIndex(where: { $0.isDone("look") }) else { return }
      history.operations[place].steps = [Step(.read, "0", .integer(-1))]
    }
    #expect(stale == ["stale read"])
    let lost = try await run.checks(
      after: "DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)")
    #expect(lost.contains("ledger"))
  }

  @Test func `acknowledged commits are there, and one that is lost is found`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short("durability", in: directory)
    #expect(run.broken == [])
    let done = run.result.history.operations.filter { $0.isDone("commit") }
    #expect(done.count > 10)
    let torn = try await run.checks(
      after: "UPDATE entry SET filler = x'0102' WHERE position = (SELECT max(position) FROM entry)")
    #expect(torn == ["chain"])
    let lost = try await run.checks(
      after: "DELETE FROM entry WHERE position = (SELECT max(position) FROM entry)")
    #expect(lost.contains("tally"))
  }

  @Test func `only the last commits may be lost, and only by a power cut`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short("durability", in: directory, faults: [])
    #expect(run.broken == [])
    let end = (run.result.history.operations.compactMap(\.ended).max() ?? 0) + 1
    let cut = FaultRecord(event: FaultEvent(kind: .powerCut, time: 1), began: end, ended: end)
    let last = run.result.history.operations.filter { $0.isDone("commit") }.max {
      Self.position($0) < Self.position($1)
    }
    // One more commit was acknowledged than is there: at the end, which a cut may take, or in the midst.
    func with(_ position: Int64) -> (inout History) -> Void {
      { history in
        guard var operation = last else { return }
        operation.number += 1_000_000
        operation.steps = [Step(.insert, "\(position)", .integer(0))]
        history.operations.append(operation)
      }
    }
    let next = (last.map(Self.position) ?? 0) + 1
    #expect(try await run.checks(with(next)) == ["lost commit"])
    #expect(try await run.checks(faults: [cut], with(next)) == [])
    #expect(try await run.checks(faults: [cut], with(1)) == ["hole"])
  }

  private static func position(_ operation: OperationRecord) -> Int64 {
    operation.steps.first.flatMap { Int64($0.key) } ?? 0
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `schemas change under load, and a wrong row is found`(_ seed: UInt64) async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short(
      "schema-changes", in: directory, seconds: 4, seed: seed)
    #expect(run.broken == [])
    let lost = try await run.checks(
      after: "DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)")
    #expect(lost.allSatisfy { $0 == "lost commit" })
    let wrong = try await run.checks(after: "UPDATE item SET value = value + 1 WHERE id = 5")
    #expect(wrong.contains("wrong row"))
  }

  @Test func `a crowd gets on, and who starves is found`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short(
      "crowd", in: directory, faults: [], processes: 8, seconds: 4)
    #expect(run.broken == [])
    let starved = try await run.checks { history in
      let one = history.operations.first?.process
      let first = history.operations.first { $0.process == one }
      history.operations.removeAll { $0.process == one }
      if var first {
        first.outcome = .unknown
        first.ended = history.operations.compactMap(\.ended).max()
        history.operations.insert(first, at: 0)
      }
    }
    #expect(starved.contains("starvation"))
  }

  @Test func `the scripts workload leads scripts`() async throws {
    let directory = try TestDirectory()
    let run = try await WorkloadRun.short(
      "scripts", in: directory, faults: [], processes: 2, seconds: 1)
    #expect(run.broken == [])
    #expect(run.result.history.operations.contains { $0.isDone("script") })
  }
}

extension OperationRecord {
  /// Whether it is of that name and was acknowledged.
  func isDone(_ name: String) -> Bool { self.name == name && outcome == .done }
}
