import Foundation
package import StressFaults
package import StressHistory
package import StressReport

/// A run that is over, as its directory tells of it: it can be judged again, without any luck.
package struct RecordedRun: Sendable {
  private var run: RunContext

  /// Reads a run's directory.
  ///
  /// - Parameters:
  ///   - program: `boutique-stress`.
  ///   - faults: those that had happened: some promises depend on them.
  package init(directory: String, program: String, faults: [FaultRecord]) throws {
    let planFile = directory + "/plan.json"
    do {
      run = RunContext(plan: try RunPlan.read(planFile), directory: directory, program: program)
      run.faults = faults
    } catch {
      throw StressError(
        text: "\(directory) is not the directory of a run: \(FileProblem.text(error))")
    }
  }

  /// What was to be done.
  package var plan: RunPlan { run.plan }

  /// Whether a directory looks like that of a run.
  package static func isDirectory(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path + "/history")
      && FileManager.default.fileExists(atPath: path + "/plan.json")
  }

  /// Reads what the processes did; errors are judged by the faults.
  package func history() throws -> History {
    let names = try FileManager.default.contentsOfDirectory(atPath: run.historyDirectory)
    let history = try History.read(
      files: names.filter { $0.hasSuffix(".jsonl") }.sorted().map {
        run.historyDirectory + "/" + $0
      })
    return Self.judged(history, by: run.faults)
  }

  /// What the history and the database say, checked now.
  ///
  /// The database is opened for it, which may change its files: call it on a copy of what is to be kept.
  package func violations() async throws -> [Violation] {
    try await Self.judge(run, try history())
  }

  /// The history with its errors judged by the faults that had struck.
  static func judged(_ history: History, by faults: [FaultRecord]) -> History {
    var history = history
    for index in history.notes.indices {
      history.notes[index] = ErrorJudgement.judged(history.notes[index], by: faults)
    }
    return history
  }

  /// The broken promises that a run's processes have seen themselves, and those that its workload finds.
  static func judge(_ run: RunContext, _ history: History) async throws -> [Violation] {
    guard let workload = Workloads.named(run.plan.workload) else {
      throw StressError(text: "there is no workload \(run.plan.workload)")
    }
    let evidence = Evidence(history)
    let seen = history.notes.filter { $0.kind == .violation }.map {
      Violation(
        check: $0.subject, text: "process \($0.process): \($0.text)",
        operations: evidence.operations(for: $0))
    }
    do {
      let found = try await workload.init().check(run, history)
      // What a check has proved says more than an error that somebody was told, of which there may be hundreds.
      return found.map { complete($0, evidence) } + seen
    } catch {
      // The faults are over: a database that cannot be looked at now has not kept its promises.
      let violation = Violation(check: "end state", text: "cannot be looked at: \(error)")
      return seen + [complete(violation, evidence)]
    }
  }

  /// A violation that is the file's own, with what was done last: whatever broke the file is among it, or before.
  private static func complete(_ violation: Violation, _ evidence: Evidence) -> Violation {
    guard violation.operations.isEmpty, fileChecks.contains(violation.check) else {
      return violation
    }
    var violation = violation
    violation.operations = evidence.lastOperations()
    return violation
  }

  /// Checks of the file itself, which know no operation.
  private static let fileChecks: Set = ["integrity", "end state", "unreadable", "two readings"]
}
