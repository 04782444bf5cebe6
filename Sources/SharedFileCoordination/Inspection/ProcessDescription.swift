/// What a process does at the moment, as the kernel tells it.
package enum ProcessState: String, Sendable, Codable {
  /// On a processor or ready for one.
  case running
  /// Waiting for something.
  case sleeping
  /// Stopped by a signal, a debugger or a frozen cgroup.
  case stopped
  /// Dead, its parent has not asked for its result yet.
  case zombie
  /// Not there any more.
  case gone
  /// Not to be seen from here: another pid namespace, or `/proc` does not show it.
  case unknown
}

/// A process that has the database open.
package struct ProcessDescription: Sendable, Codable, Equatable {
  /// Process number, in the process's own pid namespace.
  package var pid: Int32
  /// When the process started, in clock ticks since the machine started; tells two processes
  /// with the same number apart.
  package var startTime: UInt64
  /// What the program calls itself.
  package var label: String
  /// Its command line, shortened.
  package var command: String
  /// The user it runs as.
  package var userID: UInt32
  /// What it does at the moment.
  package var state: ProcessState

  /// Makes a description from its parts.
  package init(
    pid: Int32, startTime: UInt64, label: String, command: String, userID: UInt32,
    state: ProcessState
  ) {
    self.pid = pid
    self.startTime = startTime
    self.label = label
    self.command = command
    self.userID = userID
    self.state = state
  }
}

extension ProcessDescription: CustomStringConvertible {
  /// Label, number and state on one line.
  package var description: String {
    let name = label.isEmpty ? command : label
    return name.isEmpty
      ? "process \(pid) (\(state.rawValue))" : "\(name), process \(pid) (\(state.rawValue))"
  }
}
