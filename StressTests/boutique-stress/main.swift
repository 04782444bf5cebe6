import Foundation
import StressFaults
import StressHarness

let arguments = Array(CommandLine.arguments.dropFirst())
let program =
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
  ?? CommandLine.arguments[0]
if arguments.first == WorkerProgram.option {
  exit(await WorkerProgram.run(Array(arguments.dropFirst()), program: program))
}
if arguments.first == FaultProbe.option { exit(FaultProbe.run(Array(arguments.dropFirst()))) }
if arguments.first == PointProbe.option, arguments.count == 2 {
  exit(await PointProbe.run(directory: arguments[1]))
}
exit(await StressProgram.run(arguments, program: program))
