import CommandLineSupport
import Dispatch
import Glibc

// A pipe whose reader has gone is an error of the writing call here, not the end of the process.
TextOutput.ignoreBrokenPipes()
let words = Array(CommandLine.arguments.dropFirst())
if words.first == WorkerProgram.word {
  Task.detached { exit(await WorkerProgram.run().rawValue) }
  // Some of it runs on the main actor.
  dispatchMain()
} else {
  // Blocked here, on the main thread, before there is another: one thread that does not block them
  // is enough for the kernel to end the process, and then nobody would take the directory away.
  SignalWatch.block(RunGuard.signals)
  // The coordinator waits for its workers in blocking calls, so on a thread of its own.
  OwnThread.start { exit(Program.run(words).rawValue) }
}
// No `await` here: it would hand this thread to Dispatch, which takes the block off every signal.
while true { pause() }
