import BoutiqueDB
package import StressFaults
package import StressHistory
import Synchronization

/// Appends to lists and reads of whole lists, several in one transaction: there must be one order of all.
package struct ListAppendWorkload: Workload {
  package static let name = "list-append"
  package static let summary =
    "appends and reads of many lists: the history is strictly serializable"
  package static let faults = FaultKind.allCases

  package init() {}

  private static let clients = 4
  /// How many lists are in use at a time.
  static let slots = 5
  /// From which length on the next list of a slot is used, so that a read does not grow for ever.
  static let length = 40

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE list (key TEXT PRIMARY KEY NOT NULL, items TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE element (id INTEGER PRIMARY KEY, list TEXT NOT NULL, value INTEGER NOT NULL);
        CREATE INDEX element_list ON element (list, id);
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    // Values are unique in the run: by the start, and counted in it.
    let values = ListValues(start: worker.start)
    try await WorkloadClient.run(worker, count: Self.clients) { client in
      var lists = ListClient(client: client, values: values)
      await lists.work()
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let state = try await FinalState.read(
      run,
      [
        "lists": "SELECT key, items FROM list ORDER BY key",
        "elements": "SELECT list, value FROM element ORDER BY list, id",
      ])
    var final: [String: [Int64]] = [:]
    for row in state.texts("lists") where row.count == 2 {
      final[row[0]] = row[1].split(separator: ",").compactMap { Int64($0) }
    }
    for row in state.texts("elements") where row.count == 2 {
      final[row[0], default: []].append(Int64(row[1]) ?? 0)
    }
    return state.violations + AppendCheck.violations(history.operations, final: final)
  }
}

/// Numbers that nobody else in the run has.
final class ListValues: Sendable {
  private let last: Atomic<Int64>

  init(start: Int) { last = Atomic(Int64(start) * 10_000_000) }

  func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
