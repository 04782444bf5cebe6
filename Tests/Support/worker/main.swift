import Dispatch
import Foundation
import Glibc
import ProcessHarness

// A process that plays any part in a test: it reads commands from standard input, one JSON object a
// line, and writes events to standard output, one JSON object a line. `Worker.perform` lists the
// commands. The end of standard input ends it as a crash would: nothing is closed.

dieWithHarness()
do {
  try Surroundings(arguments: Array(CommandLine.arguments.dropFirst())).take()
} catch {
  emit("failed", ["error": "surroundings", "message": .text("\(error)")])
  exit(64)
}

let worker = Worker()
Thread.detachNewThread {
  while let line = readLine() { worker.receive(line) }
  _exit(0)
}
emit("ready", ["pid": .integer(Int64(getpid()))])
// The commands run in tasks; some of them on the main actor, which Dispatch serves from here on.
dispatchMain()
