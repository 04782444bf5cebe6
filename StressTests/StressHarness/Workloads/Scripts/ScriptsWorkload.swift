import Foundation
import ProcessHarness
package import StressFaults
package import StressHistory
import StressReport

/// Scripts of tasks for client processes, as SQLite tests several processes: each process of the run leads the
/// clients of one script after the other, on a file of its own.
package struct ScriptsWorkload: Workload {
  package static let name = "scripts"
  package static let summary =
    "scripted clients of the library, Python and the shell, with crashes and odd settings: counts are right"
  // What strikes a leader would end its script; its clients die often enough by themselves.
  package static let faults: [FaultKind] = [
    .pause, .inotifyLimit, .inotifyOverflow, .clockStep, .slowDisk,
  ]
  package static let usualProcesses = 2

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    _ = try ScriptFiles.all(near: run.program)
    try FileManager.default.createDirectory(
      atPath: run.directory + "/scripts", withIntermediateDirectories: true)
  }

  package func work(_ worker: WorkerContext) async throws {
    var random = worker.random("scripts")
    let all = try ScriptFiles.all(near: worker.run.program).flatMap { script in
      ScriptRunner.variants(of: script.text).map { (script.name, script.text, $0) }
    }.shuffled(using: &random)
    var number = 0
    repeat {
      let (name, text, variant) = all[number % all.count]
      number += 1
      let database = worker.run.directory + "/scripts/\(worker.start)-\(number).db"
      await worker.attempt("script", [Step(.take, "\(name) \(variant)")]) { _ in
        let runner = try ScriptRunner(
          text, name: name, variant: variant, database: database, program: worker.run.program)
        for problem in try await runner.problems() {
          worker.log.note(.violation, "script", problem)
        }
        return [Step(.finish, "\(name) \(variant)", .text(database))]
      }
    } while !worker.shouldEnd
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    var violations: [Violation] = []
    let text = "say(check=[r[0] for r in connect().execute('PRAGMA integrity_check')])\n"
    for operation in history.operations where operation.name == "script" {
      guard operation.outcome == .done, case .text(let path)? = operation.steps.first?.value else {
        continue
      }
      // Once more when all is over: what the last one to leave did to the file was not looked at.
      let answer = try await ForeignProgram.result(text, database: path)
      if answer["check"] != ["ok"] {
        violations.append(
          Violation(
            check: "integrity", text: "\(operation.steps[0].key) left \(answer)",
            operations: [operation]))
      }
    }
    return violations
  }
}
