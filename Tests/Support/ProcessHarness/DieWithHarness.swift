import Foundation
import Glibc

/// The environment variable that tells a child the process id of the harness.
let harnessProcessVariable = "PROCESS_HARNESS_PID"

/// Asks the kernel to kill this process when the harness that started it is gone.
///
/// A child calls it first thing, and again after changing its user, which clears the wish (prctl(2)).
/// Does nothing in a process that no harness started.
package func dieWithHarness() {
  guard let text = ProcessInfo.processInfo.environment[harnessProcessVariable],
    let harness = pid_t(text)
  else { return }
  ForeignSymbols.setParentDeathSignal(SIGKILL)
  // The harness may have died before the wish was heard.
  if getppid() != harness { _exit(1) }
}
