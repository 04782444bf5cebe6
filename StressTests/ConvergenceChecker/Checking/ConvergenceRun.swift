import Foundation
import ProcessHarness

/// Where a run has its files.
struct RunPlace: Sendable {
  let directory: String
  /// The program that has the hidden role of ``WorkerProgram``.
  let program: String

  var database: String { directory + "/app.db" }
  var script: String { directory + "/script.jsonl" }
  var lockFile: String { database + "-lock" }
}

/// Runs one scenario: writers write, observers observe, and when all writers have paused everything must
/// agree.
package struct ConvergenceRun: Sendable {
  private let scenario: Scenario
  private let place: RunPlace
  /// How long nothing may move before what differs counts as different for good.
  private let patience: Duration

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - directory: an empty one for the database and the script.
  ///   - program: `boutique-converge`.
  ///   - patience: how long nothing may move at a quiet point before a difference counts.
  package init(
    _ scenario: Scenario, in directory: String, program: String,
    patience: Duration = .seconds(10)
  ) {
    self.scenario = scenario
    place = RunPlace(directory: directory, program: program)
    self.patience = patience
  }

  /// Runs all rounds, or up to the first that fails.
  ///
  /// - Parameter progress: is told after each round.
  package func run(
    progress: @escaping @Sendable (RunReport) -> Void = { _ in }
  ) async throws -> RunReport {
    try FileManager.default.createDirectory(
      atPath: place.directory, withIntermediateDirectories: true)
    try ScriptFile.write(scenario, to: place.script)
    return try await withChildProcesses { children in
      let record = Record(scenario: scenario)
      let company = Company(
        scenario: scenario, place: place, children: children, record: record)
      try await company.makeDatabase()
      // All at once: opening together is a part of the trial.
      try await withThrowingTaskGroup { group in
        for plan in scenario.processes where plan.role != .shell {
          group.addTask { _ = try await company.child(plan) }
        }
        try await group.waitForAll()
      }
      for round in 0..<scenario.rounds {
        await record.begin(round: round)
        try await write(round, company, record)
        try await QuietPoint(
          scenario: scenario, place: place, company: company, record: record, patience: patience
        ).check()
        await record.endRound()
        progress(await record.report)
        if await record.hasFailed { return await record.report }
      }
      try await company.endAll()
      return await record.report
    }
  }

  /// Lets all writers do their operations of a round, with its disturbances.
  private func write(_ round: Int, _ company: Company, _ record: Record) async throws {
    let disturbances = scenario.disturbances.filter { $0.round == round }
    try await withThrowingTaskGroup { group in
      let disturbing = Task {
        for disturbance in disturbances {
          while await record.endedInRound() < disturbance.after {
            // Those that wait for more writes than there were happen at the end.
            if await record.isWritingOver { break }
            try await Task.sleep(for: .milliseconds(5))
          }
          try await disturb(disturbance, company)
        }
      }
      for plan in scenario.processes where plan.role != .observer {
        group.addTask {
          if plan.role == .shell {
            try await writeWithShell(plan, round, company, record)
          } else {
            try await write(plan, round, company, record)
          }
        }
      }
      do {
        try await group.waitForAll()
      } catch {
        disturbing.cancel()
        throw error
      }
      await record.endWriting()
      try await disturbing.value
    }
  }

  private func disturb(_ disturbance: Disturbance, _ company: Company) async throws {
    let target = disturbance.target.flatMap(scenario.process)
    switch disturbance.kind {
    case .kill: if let target { try await company.kill(target) }
    case .stop:
      if let target {
        try await company.stop(target, for: .milliseconds(disturbance.milliseconds))
      }
    case .reopen: if let target { try await company.reopen(target) }
    case .deleteLockFile: try? FileManager.default.removeItem(atPath: place.lockFile)
    }
  }

  /// Gives a process its work until all of it has ended, however often the process is killed.
  private func write(
    _ plan: ProcessPlan, _ round: Int, _ company: Company, _ record: Record
  ) async throws {
    let own = scenario.operations.filter { $0.writer == plan.name && $0.round == round }
    let asked = Set(own.compactMap(\.probe))
    let probes = Dictionary(
      uniqueKeysWithValues: scenario.queries.filter { asked.contains($0.id) }
        .map { (String($0.id), $0.sql) })
    for attempt in 0... {
      let ended = await record.ended
      let open = own.filter { !ended.contains($0.id) }
      if open.isEmpty { return }
      let child = try await company.child(plan)
      let command = Command(kind: .run, operations: open, probes: probes, attempt: attempt)
      switch try await company.work(command, on: child) {
      case .done: break
      case .stuck:
        await record.add(.stuck, plan.name, "did not end its work")
        return
      case .ended:
        await company.forget(plan.name, child)
        // One that has ended by itself has been told of.
        guard await company.isKilled(child) else { return }
      }
      if await record.hasFailed { return }
    }
  }

  private func writeWithShell(
    _ plan: ProcessPlan, _ round: Int, _ company: Company, _ record: Record
  ) async throws {
    for operation in scenario.operations
    where operation.writer == plan.name && operation.round == round {
      let entry = "\(plan.name)/\(operation.id)/0"
      let isDone = try await company.shell(
        ShellText.text(of: operation, entry: entry, settings: plan.settings))
      var event = Event(
        kind: isDone ? .committed : .refused, operation: operation.id, entry: entry)
      if operation.kind != .transaction && operation.kind != .rollback { event.kind = .ended }
      await record.take(event, from: plan.name)
    }
  }
}
