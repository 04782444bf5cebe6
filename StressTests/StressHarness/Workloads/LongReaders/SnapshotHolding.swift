import BoutiqueDB
import Foundation
import StressFaults
import StressHistory
import StressReport

/// Sums over what all writers change, in one snapshot: each write adds four hits to slots, and four to its own
/// total.
struct SlotSums: Sendable, Equatable {
  var slots: Int64
  var totals: Int64

  init(_ connection: BoutiqueConnection) throws {
    slots = try connection.queryOne("SELECT sum(hits) FROM slot")?.decode(0) ?? 0
    totals =
      try connection.queryOne("SELECT coalesce(sum(hits), 0) FROM total")?.decode(0) ?? 0
  }

  func problem(after before: SlotSums? = nil) -> String? {
    if slots != totals { return "slots have \(slots) hits, writers made \(totals)" }
    if let before, before.slots > slots { return "went back from \(before.slots) to \(slots)" }
    return nil
  }
}

/// A snapshot, held while others commit.
struct SnapshotHolding: Sendable {
  /// How many different states of the database were committed meanwhile, as far as was looked.
  var commits = 0
  var check = "snapshot moved"
  /// What was wrong; nil when nothing was.
  var problem: String?

  /// Reads again and again, until so much time is over and writers have gone on; runs on a thread of the
  /// library, which may wait.
  init(
    _ connection: BoutiqueConnection, _ db: BoutiqueDB, _ worker: WorkerContext, seconds: Double
  ) throws {
    let first = try SlotSums(connection)
    problem = first.problem()
    let start = HistoryLog.now()
    var mark = db.commitMark
    while problem == nil {
      Thread.sleep(forTimeInterval: 0.02)
      let now = try SlotSums(connection)
      if now != first { problem = "\(first) became \(now) within one snapshot" }
      if let next = db.commitMark, next != mark {
        commits += 1
        mark = next
      }
      let age = Double(HistoryLog.now() - start) / 1e9
      if worker.shouldEnd || (age > seconds && commits >= 10) { return }
      // Generous: a writer that waits for the reader would wait for ever.
      if age > 45 {
        if !Self.mayStop(worker.run.plan.faults) {
          check = "stopped writers"
          problem = "only \(commits) commits in \(Int(age)) s of a snapshot"
        }
        return
      }
    }
  }

  /// Whether faults of these kinds can keep everybody from writing for as long.
  private static func mayStop(_ faults: [FaultKind]) -> Bool {
    faults.contains {
      [.diskFull, .fileSizeLimit, .ioError, .shortWrite, .failedSync, .slowDisk, .logTampering]
        .contains($0)
    }
  }
}
