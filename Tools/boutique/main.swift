import CommandLineSupport
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
// Before the first `await`, since threads inherit what is blocked.
SignalWatch.block(Program.signals(takenBy: arguments))
let status = await Program.run(arguments, CommandContext.ofThisProcess())
exit(status.rawValue)
