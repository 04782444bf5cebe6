/// How a process takes part in the coordination of a database.
package struct CoordinationOptions: Sendable {
  /// What the program calls itself in other processes' errors and reports.
  package var label: String
  /// Its command line.
  package var command: String
  /// Mode of a lock file that we make; the umask does not narrow it.
  package var fileMode: UInt32
  /// How long a turn may go on serving commits while somebody waits.
  package var quantum: Duration
  /// How often a waiter looks by itself, in case the wake-up was lost with its sender.
  package var lookInterval: Duration
  /// How long the lease may lie free before a waiter goes past those in front that do not take it
  /// though they are not seen to be stopped.
  package var patience: Duration
  /// How many processes get a place in the queue; only the process that makes the file decides.
  package var slotCount: Int

  /// Makes options; the defaults are what a program wants.
  package init(
    label: String = "", command: String = OwnProcess.commandLine, fileMode: UInt32 = 0o600,
    quantum: Duration = .milliseconds(1), lookInterval: Duration = .milliseconds(20),
    patience: Duration = .milliseconds(100),
    slotCount: Int = LockFileLayout.maximumSlotCount
  ) {
    self.label = label
    self.command = command
    self.fileMode = fileMode
    self.quantum = quantum
    self.lookInterval = lookInterval
    self.patience = patience
    self.slotCount = min(max(1, slotCount), LockFileLayout.maximumSlotCount)
  }
}
