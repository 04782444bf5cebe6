import CommandLineSupport
import ConvergenceChecker
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let words = Array(CommandLine.arguments.dropFirst())
if words.first == WorkerProgram.option {
  exit(await WorkerProgram.run(Array(words.dropFirst())))
}
exit(await ConvergeProgram.run(words))
