import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// Programs of many versions that open one database, each with the migrations that it knows.
///
/// A migration (``VersionedPlan``) makes two tables, moves a sum between rows, notes itself and takes its time
/// in between. In every snapshot of anybody each migration must be there wholly or not at all, and once.
package struct MigrationsWorkload: Workload {
  package static let name = "migrations"
  package static let summary =
    "programs of many versions open and migrate under load: each migration whole, and once"
  package static let faults = FaultKind.allCases

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"),
      migrations: VersionedPlan.plan(version: 1))
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    await withTaskGroup { group in
      group.addTask { await openAndClose(worker) }
      group.addTask { await lookOn(worker) }
    }
  }

  /// Opens with a version of the plan, works a little, and closes, again and again.
  private func openAndClose(_ worker: WorkerContext) async {
    var random = worker.random("versions")
    // The newest version that this program has heard of.
    var newest = 1
    while !worker.shouldEnd {
      var version = max(1, newest + random.int(-1...1))
      if version > VersionedPlan.limit { version = VersionedPlan.limit }
      let plan = Step(.set, "plan", .integer(Int64(version)))
      let steps = await worker.operate("open \(version)", [plan]) {
        [plan, try await open(version: version, worker, &random)]
      }
      if let found = steps.flatMap(Self.version(in:)) { newest = max(newest, Int(found)) }
      try? await Task.sleep(for: .milliseconds(random.int(0...10)))
    }
  }

  /// The version that an operation found.
  private static func version(in steps: [Step]) -> Int64? {
    for step in steps where step.kind == .read && step.key == VersionState.key {
      if case .integer(let version) = step.value { return version }
    }
    return nil
  }

  /// - Returns: the version that the database had, as a step.
  private func open(
    version: Int, _ worker: WorkerContext, _ random: inout SeededRandom
  ) async throws -> Step {
    let configuration = worker.run.configuration(label: "version \(version)")
    let before = try await currentVersion(worker)
    let db: BoutiqueDB
    do {
      db = try await BoutiqueDB.open(
        path: worker.run.database, configuration: configuration,
        migrations: VersionedPlan.plan(version: version))
    } catch BoutiqueError.databaseNewer(_, let unknown) {
      let now = try await currentVersion(worker)
      if now <= version || unknown.isEmpty {
        worker.log.note(
          .violation, "refused version",
          "version \(version) was told that the database is newer, and it is of version \(now)",
          seen: [Step(.read, VersionState.key, .integer(Int64(now)))])
      }
      return Step(.read, VersionState.key, .integer(Int64(now)))
    }
    let began = HistoryLog.now()
    let state = try await db.read(VersionState.init)
    complain(of: state, worker, since: began)
    if before > version {
      worker.log.note(
        .violation, "old version admitted",
        "version \(version) opened a database that was of version \(before) before",
        since: began, seen: state.seen)
    }
    if state.version < version {
      worker.log.note(
        .violation, "lost migration",
        "version \(version) has opened, and the database is of version \(state.version)",
        since: began, seen: state.seen)
    }
    for _ in 0..<random.int(0...5) {
      try await write(version, db, worker)
      try? await Task.sleep(for: .milliseconds(random.int(0...5)))
    }
    await db.close()
    return Step(.read, VersionState.key, .integer(Int64(state.version)))
  }

  private func currentVersion(_ worker: WorkerContext) async throws -> Int {
    // An empty plan goes with every version.
    let db = try await BoutiqueDB.open(
      path: worker.run.database, configuration: worker.run.configuration(label: "look"))
    let began = HistoryLog.now()
    let state = try await db.read(VersionState.init)
    complain(of: state, worker, since: began)
    await db.close()
    return state.version
  }

  /// Writes as a program of a version: when a newer one has migrated meanwhile it must be refused.
  private func write(_ version: Int, _ db: BoutiqueDB, _ worker: WorkerContext) async throws {
    let began = HistoryLog.now()
    do {
      let found = try await db.write { connection in
        try connection.execute("UPDATE sum SET value = value + 1 WHERE id = 1")
        try connection.execute("UPDATE sum SET value = value - 1 WHERE id = 2")
        return try VersionState(connection)
      }
      if found.version > version {
        worker.log.note(
          .violation, "old version writes",
          "version \(version) has written to a database of version \(found.version)",
          since: began, seen: found.seen)
      }
    } catch BoutiqueError.databaseNewer {
      // Reading goes on.
      complain(of: try await db.read(VersionState.init), worker, since: began)
    }
  }

  /// Reads all the time, as a tool that knows no version.
  private func lookOn(_ worker: WorkerContext) async {
    guard let db = try? await worker.open() else { return }
    while !worker.shouldEnd {
      let began = HistoryLog.now()
      do {
        complain(of: try await db.read(VersionState.init), worker, since: began)
      } catch {
        let kind: Note.Kind = worker.run.plan.faults.isEmpty ? .violation : .trouble
        worker.log.note(kind, "look", "\(error)")
      }
      try? await Task.sleep(for: .milliseconds(2))
    }
    await db.close()
  }

  private func complain(of state: VersionState, _ worker: WorkerContext, since began: Int64) {
    for fault in state.faults {
      worker.log.note(.violation, fault.check, fault.text, since: began, seen: state.seen)
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    var violations = try await FinalState.read(
      run,
      [
        "done": "SELECT version FROM done ORDER BY version",
        "sum": "SELECT id, value FROM sum ORDER BY id",
      ]
    ).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    let state = try await db.read(VersionState.init)
    violations += state.faults.map {
      Violation(
        check: $0.check, text: $0.text, operations: Evidence(history).operations(atEnd: state.seen))
    }
    await db.close()
    for operation in history.operations where operation.outcome == .done {
      guard let version = Self.version(in: operation.steps), version > state.version,
        !run.mayForget
      else { continue }
      violations.append(
        Violation(
          check: "lost migration",
          text: "version \(version) was seen, and in the end the database is of \(state.version)",
          operations: [operation]))
    }
    // Without faults nobody may have failed: to be refused as too old is no failure.
    if run.plan.faults.isEmpty {
      violations += history.operations.filter { $0.error != nil }.map {
        Violation(check: "error", text: "\($0.name): \($0.error ?? "")", operations: [$0])
      }
    }
    return Array(violations.prefix(20))
  }
}
