import CommandLineSupport
import Glibc

// A standard descriptor that is closed would become the number of the next file that is opened, and text
// for a terminal would end up in that file.
while true {
  let descriptor = open("/dev/null", O_RDWR)
  if descriptor > STDERR_FILENO { close(descriptor) }
  if descriptor < 0 || descriptor > STDERR_FILENO { break }
}
// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let words = Array(CommandLine.arguments.dropFirst())
// Blocked here, on the main thread, before there is another: one thread that does not block them is
// enough for the kernel to end the process.
SignalWatch.block(EndingSignals.all)
Task.detached {
  if words.count == 2, words[0] == DaemonOrders.option {
    exit(await DaemonProgram.run(label: words[1]).rawValue)
  }
  exit(await DemoProgram.run(words))
}
// No `await` here: it would hand this thread to Dispatch, which takes the block off every signal.
while true { pause() }
