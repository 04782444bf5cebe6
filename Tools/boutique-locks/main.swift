import CommandLineSupport
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
if LocksCommand.watches(arguments) { SignalWatch.block(WatchLoop.signals) }
exit(LocksCommand.run(arguments))
