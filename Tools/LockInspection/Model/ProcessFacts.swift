package import SharedFileCoordination

/// Names a process wherever one is spoken of.
package struct ProcessReference: Codable, Sendable, Hashable {
  /// Its number as seen from here; for a process of a pid namespace into which this one cannot see, its
  /// number there.
  package var pid: Int32
  package var pidNamespace: PidNamespace
  /// What the program calls itself; empty when it has not said.
  package var label: String
  package var state: ProcessState

  /// Makes a name.
  package init(
    pid: Int32, pidNamespace: PidNamespace = .own, label: String = "",
    state: ProcessState = .unknown
  ) {
    self.pid = pid
    self.pidNamespace = pidNamespace
    self.label = label
    self.state = state
  }

  /// Where a process number means something.
  package enum PidNamespace: String, Codable, Sendable, CaseIterable {
    /// Here.
    case own
    /// In a namespace into which this process cannot see.
    case other
  }

  /// What makes two names those of one process.
  package struct Key: Hashable, Sendable {
    package var pid: Int32
    package var pidNamespace: PidNamespace
  }

  package var key: Key { Key(pid: pid, pidNamespace: pidNamespace) }
}

/// A process that has the database or its lock file open.
package struct ProcessFacts: Codable, Sendable, Equatable {
  package var pid: Int32
  package var pidNamespace: ProcessReference.PidNamespace
  /// Its number in its own pid namespace, where that is another one than `pid` says.
  package var innerPid: Int32?
  package var parentPid: Int32?
  package var userId: UInt32
  package var user: String
  package var label: String
  package var command: String
  package var state: ProcessState
  package var role: Role
  /// Its place in the lock file's table, nil when it has none.
  package var slot: Int?
  /// How long it has had the database open; nil when it has not said.
  package var openForSeconds: Double?
  /// How long the process has been running.
  package var runningForSeconds: Double?
  /// The change token up to which it has read; nil when it has not said.
  package var token: Int64?
  /// Its control group, nil in the root group.
  package var cgroup: String?
  /// Its container or the system's unit, where the group's name tells.
  package var container: String?
  /// Which of the database's files it has open.
  package var files: [File]

  /// Makes facts about a process; what is not given here is not known yet.
  package init(
    pid: Int32, pidNamespace: ProcessReference.PidNamespace = .own, parentPid: Int32? = nil,
    userId: UInt32, user: String, label: String, command: String, state: ProcessState, role: Role,
    slot: Int? = nil, files: [File] = []
  ) {
    self.pid = pid
    self.pidNamespace = pidNamespace
    self.parentPid = parentPid
    self.userId = userId
    self.user = user
    self.label = label
    self.command = command
    self.state = state
    self.role = role
    self.slot = slot
    self.files = files
  }

  /// How it takes part.
  package enum Role: String, Codable, Sendable, CaseIterable {
    /// It has a slot in the lock file.
    case member
    /// It has the lock file open and no slot: all are taken, or it is just opening.
    case unlisted
    /// A child that a member made by `fork`, with the member's locks.
    case forked
    /// It has the database open and not the lock file: a foreign program, or a reader.
    case foreign
  }

  /// One of the files that belong to a database.
  package enum File: String, Codable, Sendable, CaseIterable {
    case database
    case log
    case index
    case journal
    case lockFile = "lock_file"
  }

  package var reference: ProcessReference {
    ProcessReference(pid: pid, pidNamespace: pidNamespace, label: label, state: state)
  }
}

extension ProcessReference {
  /// The state as a word.
  package var stateName: String { state.rawValue }

  /// The state as a word when the process cannot go on by itself, else nil.
  package var trouble: String? {
    switch state {
    case .stopped, .zombie, .gone: state.rawValue
    case .running, .sleeping, .unknown: nil
    }
  }
}
