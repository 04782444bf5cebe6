import BoutiqueDB
package import StressHistory
import StressReport

extension WideRowsWorkload {
  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    // First, so that it is this that recovers what the last ones left.
    var violations = try await FinalState.read(run, [:]).violations
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "check"))
    do {
      for way in 0...3 {
        try await db.read { connection in
          for pair in 0..<Int64(Self.pairs) where way == 0 || pair == 0 {
            try WideReading.read(way, pair, connection)
          }
        }
      }
    } catch let torn as TornRow {
      violations.append(Violation(check: "torn row", text: torn.text))
    }
    let versions = try await db.read { connection in
      try connection.query("SELECT id, version FROM pair").reduce(into: [String: Int64]()) {
        $0["\(try $1.decode(0, as: Int64.self))"] = try $1.decode(1)
      }
    }
    await db.close()
    return violations + Self.versionViolations(versions, run, history)
  }

  /// Each change has a version of its own, and all of them are counted.
  private static func versionViolations(
    _ versions: [String: Int64], _ run: RunContext, _ history: History
  ) -> [Violation] {
    let changes = history.operations.filter { $0.name == "change" }
    var violations: [Violation] = []
    for (pair, operations) in Dictionary(grouping: changes, by: { $0.steps.first?.key ?? "" }) {
      var given: [Int64: OperationRecord] = [:]
      for operation in operations
      where operation.outcome == .done && !Acknowledged.mayBeLost(operation, run) {
        guard case .integer(let version)? = operation.steps.first?.value else { continue }
        if let other = given.updateValue(operation, forKey: version) {
          violations.append(
            Violation(
              check: "lost update", text: "version \(version) of pair \(pair) was made twice",
              operations: [other, operation]))
        }
        if version > versions[pair] ?? 0 {
          violations.append(
            Violation(
              check: "lost commit",
              text:
                "version \(version) of pair \(pair) was acknowledged, it has \(versions[pair] ?? 0)",
              operations: [operation]))
        }
      }
      // Touches at the end make versions that are no operations.
      let most = operations.count { $0.outcome != .refused }
      if run.plan.faults.isEmpty, versions[pair] ?? 0 > Int64(most) {
        violations.append(
          Violation(
            check: "unknown change",
            text: "pair \(pair) has version \(versions[pair] ?? 0) after \(most) changes"))
      }
    }
    return violations
  }
}
