import Blackbird
import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// Live queries of all kinds in all processes, while all of them write.
///
/// Every commit adds one to a counter and to one of some cells, and stamps the cell with the counter. So each
/// state is known by its counter, and a value is of one state only when the cells add up to it. Now and then
/// all writers rest (``LiveRest``), and then every live query must come to what a fresh read gives.
package struct LiveWorkload: Workload {
  package static let name = "live"
  package static let summary =
    "live queries in all processes: only states that were, never backwards, none missed"
  package static let faults = FaultKind.allCases

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    let models = try await Blackbird.Database.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    for id in 0..<LiveState.cells {
      try await LiveCellModel(id: id, value: 0, stamp: 0).write(to: models)
    }
    await models.close()
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, at INTEGER NOT NULL);
        INSERT INTO counter VALUES (1, 0, 0);
        """)
      try LiveRest.make(on: connection)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open { configuration in
      // One in three hears of nothing but by the poll, as where the file system's events are deaf.
      if worker.place % 3 == 2 { configuration.usesInotify = false }
    }
    let models = try await Self.models(worker)
    let board = LiveBoard(worker)
    let observers = LiveObservers(db: db, models: models, board: board)
    try await withThrowingTaskGroup { group in
      let observing = Task { await observers.run() }
      defer { observing.cancel() }
      group.addTask { await LiveWriter(db: db, worker: worker, client: 1).run() }
      group.addTask { await LiveMainWriter.run(db: db, worker: worker) }
      let rest = LiveRest(db: db, worker: worker, board: board)
      if worker.place == 0 { group.addTask { await rest.conduct() } }
      group.addTask { await rest.follow() }
      try await group.waitForAll()
      await board.settle("at the end", read: { try await db.read(LiveState.init) })
    }
    await models.close()
    await db.close()
  }

  private static func models(_ worker: WorkerContext) async throws -> Blackbird.Database {
    while true {
      do {
        return try await Blackbird.Database.open(
          path: worker.run.database,
          configuration: worker.run.configuration(label: "models \(worker.place)"))
      } catch {
        if worker.shouldEnd || worker.run.plan.faults.isEmpty { throw error }
        worker.log.note(.trouble, "open", "\(error)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let state = try await db.read(LiveState.init)
    await db.close()
    var violations: [Violation] = []
    if let text = state.fault {
      let seen = LiveState.seen(state.cells, counter: state.counter)
      violations.append(
        Violation(
          check: "torn value", text: text, operations: Evidence(history).operations(atEnd: seen)))
    }
    // What a power cut may take is another workload's matter; the counter then begins where it was before.
    guard !run.mayForget else { return violations }
    var writers: [Int64: OperationRecord] = [:]
    for operation in history.operations where operation.name == "write" {
      guard operation.outcome == .done, case .integer(let counter)? = operation.steps.first?.value
      else { continue }
      if let other = writers[counter] {
        violations.append(
          Violation(
            check: "lost update", text: "two writes have counted to \(counter)",
            operations: [other, operation]))
      }
      writers[counter] = operation
      if counter > state.counter {
        violations.append(
          Violation(
            check: "lost write",
            text: "a write that was acknowledged counted to \(counter), and the counter is "
              + "\(state.counter)", operations: [operation]))
      }
    }
    return Array(violations.prefix(20))
  }
}
