import BoutiqueDB
import Glibc

/// Does what the script says through the library.
struct OperationRunner {
  let scenario: Scenario
  let plan: ProcessPlan
  let channel: WorkerChannel

  /// Runs operations in order, as many at a time as the process has lanes.
  func perform(_ operations: [Operation], attempt: Int, on db: BoutiqueDB) async {
    await withTaskGroup(of: Void.self) { group in
      for (index, operation) in operations.enumerated() {
        if index >= plan.lanes { await group.next() }
        group.addTask { await perform(operation, attempt: attempt, on: db) }
      }
    }
  }

  private func perform(_ operation: Operation, attempt: Int, on db: BoutiqueDB) async {
    switch operation.kind {
    case .transaction, .rollback:
      await transact(
        operation, entry: "\(operation.writer)/\(operation.id)/\(attempt)", on: db)
    case .vacuum, .checkpoint, .reopen:
      var problem: String?
      do {
        if operation.kind == .vacuum {
          try await db.vacuum()
        } else {
          _ = try await db.checkpoint(operation.id.isMultiple(of: 2) ? .passive : .truncate)
        }
      } catch { problem = "\(error)" }
      channel.tell(Event(kind: .ended, operation: operation.id, text: problem))
    }
  }

  private struct Undone: Error {}

  private func transact(_ operation: Operation, entry: String, on db: BoutiqueDB) async {
    if scenario.plant == .swallowedWrite, operation.id.isMultiple(of: 5) {
      return channel.tell(Event(kind: .committed, operation: operation.id, entry: entry))
    }
    if scenario.plant == .crash, operation.id.isMultiple(of: 5) { exit(3) }
    let probe = operation.probe.flatMap { id in scenario.queries.first { $0.id == id } }
    let isWrong = scenario.plant == .wrongMoment
    do {
      let sample = try await db.write { connection -> Sample? in
        if operation.isStampedFirst { try stamp(entry, on: connection) }
        try perform(operation.steps, on: connection)
        if !operation.isStampedFirst { try stamp(entry, on: connection) }
        if operation.kind == .rollback { throw Undone() }
        guard let probe else { return nil }
        // A query may name a table that is not there now.
        guard let answer = try? Answer.of(probe.sql, isCounted: true, on: connection),
          let counter = answer.counter
        else { return nil }
        return Sample(
          query: probe.id, counter: counter,
          hash: RowText.hash(lines: answer.lines + (isWrong ? ["planted"] : [])))
      }
      if scenario.plant == .committedFailure, operation.id.isMultiple(of: 5) {
        return channel.tell(
          Event(kind: .refused, operation: operation.id, entry: entry, text: "planted"))
      }
      channel.tell(
        Event(kind: .committed, operation: operation.id, entry: entry, sample: sample))
    } catch {
      channel.tell(
        Event(kind: .refused, operation: operation.id, entry: entry, text: "\(error)"))
    }
  }

  private func stamp(_ entry: String, on connection: BoutiqueConnection) throws {
    try connection.execute("UPDATE converge_counter SET value = value + 1 WHERE id = 1")
    try connection.execute(
      "INSERT INTO converge_ledger SELECT ?, value FROM converge_counter WHERE id = 1", entry)
  }

  private func perform(_ steps: [Step], on connection: BoutiqueConnection) throws {
    for step in steps {
      if let inner = step.savepoint {
        do {
          try connection.savepoint {
            try perform(inner, on: connection)
            if step.isUndone { throw Undone() }
          }
        } catch is Undone {}
      } else if let sql = step.sql {
        do {
          try connection.execute(sql)
        } catch {
          guard step.mayFail else { throw error }
        }
      }
    }
  }
}
