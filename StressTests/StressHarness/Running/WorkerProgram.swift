import FaultPoints
import Foundation
import ProcessHarness
import StressFaults
import StressHistory
import StressReport

/// A worker process: the program itself in another role.
package enum WorkerProgram {
  /// The first argument of the hidden role.
  package static let option = "--worker"
  /// The exit status of a worker whose history cannot be written.
  static let historyLost: Int32 = 4

  /// Names the bug that is built in, for the processes that workers start.
  private static let sabotageVariable = "BOUTIQUE_STRESS_SABOTAGE"

  static func arguments(directory: String, place: Int, start: Int) -> [String] {
    [option, directory, String(place), String(start)]
  }

  /// Plays the role that the arguments after ``option`` say; returns the exit status.
  ///
  /// Says `ready` when it could begin, begins at the line `go`, and ends at `end` or when its input ends.
  package static func run(_ arguments: [String], program: String) async -> Int32 {
    dieWithHarness()
    // For the processes that a worker starts: clients of scripts have no plan.
    if let name = ProcessInfo.processInfo.environment[sabotageVariable],
      let sabotage = Sabotage(rawValue: name)
    {
      Sabotage.turnOn(sabotage)
    }
    if arguments.first == ScriptClient.option, arguments.count == 3 {
      return await ScriptClient.run(database: arguments[1], setting: arguments[2])
    }
    guard arguments.count == 3, let place = Int(arguments[1]), let start = Int(arguments[2]) else {
      return 2
    }
    do {
      let run = RunContext(
        plan: try RunPlan.read(arguments[0] + "/plan.json"), directory: arguments[0],
        program: program)
      guard let workload = Workloads.named(run.plan.workload) else { return 2 }
      try FaultWorker.install(control: run.control, place: place)
      if let sabotage = run.plan.sabotage.flatMap(Sabotage.init) {
        Sabotage.turnOn(sabotage)
        setenv(sabotageVariable, sabotage.rawValue, 1)
      }
      let context = try WorkerContext(run: run, place: place, start: start)
      say("ready")
      let lines = StandardInput.lines()
      var commands = lines.makeAsyncIterator()
      guard await commands.next() == "go" else { return 0 }
      let listening = Task {
        for await line in lines where line == "end" { break }
        context.end()
      }
      defer { listening.cancel() }
      do {
        try await workload.init().work(context)
      } catch {
        context.log.note(.violation, "error", "\(error)")
        return 1
      }
      say("ended")
      return 0
    } catch let error as HistoryLogError {
      tell(error)
      return historyLost
    } catch {
      tell(error)
      return 3
    }
  }

  /// Says on standard error what stopped the worker.
  static func tell(_ error: any Error) {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}

extension RunPlan {
  static func read(_ path: String) throws -> RunPlan {
    try JSONDecoder().decode(RunPlan.self, from: Data(contentsOf: URL(filePath: path)))
  }
}
