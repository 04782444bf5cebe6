import ProcessHarness
import Foundation
dieWithHarness()
while let line = readLine() {
  let m = JSONValue(line: line) ?? .null
  if m["do"] == "startWorker" {
    let c = try await ChildProcess.start(ChildCommand(CommandLine.arguments[0]))
    print(try JSONValue.object(["event": "started", "pid": .integer(Int64(c.processID))]).line())
    fflush(nil)
  }
}
