import CommandLineSupport
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let context = CommandContext.ofThisProcess()
let status = await Program.run(Array(CommandLine.arguments.dropFirst()), context)
exit(status.rawValue)
