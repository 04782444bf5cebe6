import Foundation

/// Makes a failing scenario shorter.
///
/// Whole kinds of things go first (disturbances, processes, queries, feeds), then operations, then steps of
/// operations, then the schema. A shorter scenario counts as failing when one of several tries fails one of the
/// same checks: interleavings differ from try to try.
package struct Shrinker: Sendable {
  private let checks: Set<Check>
  private let directory: String
  private let program: String
  private let patience: Duration
  private let tries: Int
  private let deadline: ContinuousClock.Instant
  private let progress: @Sendable (String) -> Void

  /// Prepares the shrinking of a failure.
  ///
  /// - Parameters:
  ///   - checks: the checks that failed.
  ///   - directory: a place for the tries' databases.
  ///   - program: `boutique-converge`.
  ///   - patience: how long nothing may move in a try.
  ///   - tries: how often a candidate is tried before it counts as sound.
  ///   - bound: when to be content with what has been reached.
  ///   - progress: is told what has been reached.
  package init(
    checks: Set<Check>, directory: String, program: String, patience: Duration = .seconds(5),
    tries: Int = 3, bound: Duration = .seconds(600),
    progress: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.checks = checks
    self.directory = directory
    self.program = program
    self.patience = patience
    self.tries = tries
    deadline = ContinuousClock().now + bound
    self.progress = progress
  }

  /// Returns the shortest scenario found that fails as the given one does.
  package func shortest(_ scenario: Scenario) async -> Scenario {
    var best = scenario
    // Until nothing goes any more: with fewer operations fewer tables are needed, and so on.
    for _ in 0..<3 {
      let before = best
      await shorten(\.disturbances, of: &best)
      await shorten(\.processes, of: &best)
      await shorten(\.feeds, of: &best)
      await shorten(\.queries, of: &best)
      await shorten(\.operations, of: &best)
      await shortenSteps(of: &best)
      await shorten(\.schema, of: &best)
      if best == before || isOverdue { break }
    }
    return best
  }

  private var isOverdue: Bool { ContinuousClock().now > deadline }

  private func shorten<Part: Sendable>(
    _ parts: any WritableKeyPath<Scenario, [Part]> & Sendable, of best: inout Scenario
  ) async {
    let whole = best
    let shortest = await DeltaDebugging.shortest(whole[keyPath: parts]) { candidate in
      var scenario = whole
      scenario[keyPath: parts] = candidate
      return await fails(scenario)
    }
    best[keyPath: parts] = shortest
    best = Self.tidied(best)
    progress(Self.size(of: best))
  }

  private func shortenSteps(of best: inout Scenario) async {
    for index in best.operations.indices {
      let whole = best
      best.operations[index].steps = await DeltaDebugging.shortest(whole.operations[index].steps) {
        candidate in
        var scenario = whole
        scenario.operations[index].steps = candidate
        return await fails(scenario)
      }
    }
    progress(Self.size(of: best))
  }

  /// Takes out what has lost its process, and rounds in which nothing happens.
  private static func tidied(_ scenario: Scenario) -> Scenario {
    var scenario = scenario
    let names = Set(scenario.processes.map(\.name))
    scenario.operations.removeAll { !names.contains($0.writer) }
    scenario.queries.removeAll { !names.contains($0.observer) }
    scenario.feeds.removeAll { !names.contains($0.observer) }
    scenario.disturbances.removeAll { $0.target.map { !names.contains($0) } ?? false }
    let queries = Set(scenario.queries.map(\.id))
    for index in scenario.operations.indices {
      if let probe = scenario.operations[index].probe, !queries.contains(probe) {
        scenario.operations[index].probe = nil
      }
    }
    let used = Set(scenario.operations.map(\.round) + scenario.disturbances.map(\.round)).sorted()
    let new = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
    for index in scenario.operations.indices {
      scenario.operations[index].round = new[scenario.operations[index].round] ?? 0
    }
    for index in scenario.disturbances.indices {
      scenario.disturbances[index].round = new[scenario.disturbances[index].round] ?? 0
    }
    scenario.rounds = max(1, used.count)
    return scenario
  }

  /// What a scenario consists of, in a few words.
  package static func size(of scenario: Scenario) -> String {
    "\(scenario.processes.count) processes, \(scenario.operations.count) operations, "
      + "\(scenario.queries.count) queries, \(scenario.feeds.count) feeds, "
      + "\(scenario.disturbances.count) disturbances, \(scenario.schema.count) schema statements"
  }

  private func fails(_ candidate: Scenario) async -> Bool {
    let candidate = Self.tidied(candidate)
    for _ in 0..<tries {
      if isOverdue { return false }
      let place = directory + "/try-" + UUID().uuidString.lowercased()
      defer { try? FileManager.default.removeItem(atPath: place) }
      // A candidate that cannot even run (its schema does not fit together) is no failure.
      let report = try? await ConvergenceRun(
        candidate, in: place, program: program, patience: patience
      ).run()
      if let report, report.violations.contains(where: { checks.contains($0.check) }) {
        return true
      }
    }
    return false
  }
}
