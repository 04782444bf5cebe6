import CommandLineSupport
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
SignalWatch.block(Program.signals(takenBy: arguments))
Task.detached {
  let status = await Program.run(arguments, CommandContext.ofThisProcess())
  exit(status.rawValue)
}
// No `await` here: it would hand this thread to Dispatch, which takes the block off every signal.
while true { pause() }
