import CommandLineSupport
import Foundation
import Glibc
import StressFaults
import StressHarness

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
let program =
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
  ?? CommandLine.arguments[0]
let roles = [WorkerProgram.option, ConvergenceRole.option, FaultProbe.option, PointProbe.option]
if let role = arguments.first, roles.contains(role) {
  // Ctrl-C at a terminal reaches the whole group of the process in the foreground, and the leading process
  // alone is to end the run.
  setpgid(0, 0)
} else {
  SignalWatch.block(StopSignals.ending)
}
Task.detached {
  switch arguments.first {
  case WorkerProgram.option:
    exit(await WorkerProgram.run(Array(arguments.dropFirst()), program: program))
  case ConvergenceRole.option:
    exit(await ConvergenceRole.run(Array(arguments.dropFirst())))
  case FaultProbe.option:
    exit(FaultProbe.run(Array(arguments.dropFirst())))
  case PointProbe.option where arguments.count == 2:
    exit(await PointProbe.run(directory: arguments[1]))
  default:
    exit(await StressProgram.run(arguments, program: program))
  }
}
// No `await` here: it would hand this thread to Dispatch, which takes the block off every signal. But the main
// actor runs on this thread, and workloads have live properties, stores and secrets on it.
while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
