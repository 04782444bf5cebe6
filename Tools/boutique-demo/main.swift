import CommandLineSupport
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let words = Array(CommandLine.arguments.dropFirst())
if words.count == 2, words[0] == DaemonOrders.option {
  // Signals are blocked here, on the main thread, before there is another: one thread that does not
  // block them is enough for the kernel to end the process.
  let shutdown = Shutdown()
  exit(await DaemonProgram.run(words[1], shutdown).rawValue)
}
let interruption = Interruption()
exit(await DemoProgram.run(words, interruption))
