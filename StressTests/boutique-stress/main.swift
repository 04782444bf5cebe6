import Foundation
import StressHarness

let arguments = Array(CommandLine.arguments.dropFirst())
let program =
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
  ?? CommandLine.arguments[0]
if arguments.first == WorkerProgram.option {
  exit(await WorkerProgram.run(Array(arguments.dropFirst()), program: program))
}
if arguments.first == ConvergenceRole.option {
  exit(await ConvergenceRole.run(Array(arguments.dropFirst())))
}
exit(await StressProgram.run(arguments, program: program))
