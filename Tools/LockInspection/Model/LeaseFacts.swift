/// Who has a lease.
package struct LeaseFacts: Codable, Sendable, Equatable {
  /// Nil when the lease is held and nobody visible holds it.
  package var holder: ProcessReference?
  /// Other processes that hold it as well: children made by `fork`.
  package var alsoHeldBy: [ProcessReference] = []
  package var purpose: String?
  package var heldForSeconds: Double?

  /// Makes facts about a lease that is held.
  package init(
    holder: ProcessReference? = nil, alsoHeldBy: [ProcessReference] = [], purpose: String? = nil,
    heldForSeconds: Double? = nil
  ) {
    self.holder = holder
    self.alsoHeldBy = alsoHeldBy
    self.purpose = purpose
    self.heldForSeconds = heldForSeconds
  }
}

/// A process in line for the write lease.
package struct QueueEntry: Codable, Sendable, Equatable {
  /// Its place, from 1; nil for one that is passed over.
  package var place: Int?
  package var process: ProcessReference
  package var waitingForSeconds: Double
  /// Whether others go before it, since it did not take the lease when it could.
  package var isPassedOver: Bool

  /// Makes a place in line.
  package init(
    place: Int?, process: ProcessReference, waitingForSeconds: Double, isPassedOver: Bool = false
  ) {
    self.place = place
    self.process = process
    self.waitingForSeconds = waitingForSeconds
    self.isPassedOver = isPassedOver
  }
}

/// A slot whose owner died without giving it up; nobody minds it.
package struct Leftover: Codable, Sendable, Equatable {
  package var slot: Int
  package var process: ProcessReference
  package var command: String

  /// Makes a leftover.
  package init(slot: Int, process: ProcessReference, command: String) {
    self.slot = slot
    self.process = process
    self.command = command
  }
}

/// One of SQLite's own locks, held or waited for by one process.
package struct SQLiteLockFacts: Codable, Sendable, Equatable {
  /// What the lock stands for.
  package var name: Name
  /// The number of the read mark, for one of these.
  package var mark: Int?
  package var isExclusive: Bool
  package var isWaiting: Bool
  /// Nil when the lock is there and its holder cannot be seen.
  package var process: ProcessReference?
  /// Whether the process takes part in the queue.
  package var isMember: Bool

  /// Makes facts about a lock.
  package init(
    name: Name, mark: Int? = nil, isExclusive: Bool, isWaiting: Bool = false,
    process: ProcessReference?, isMember: Bool = false
  ) {
    self.name = name
    self.mark = mark
    self.isExclusive = isExclusive
    self.isWaiting = isWaiting
    self.process = process
    self.isMember = isMember
  }

  /// SQLite's names of its locks; the first six lie in the log's index, the others in the database
  /// file.
  package enum Name: String, Codable, Sendable, CaseIterable {
    case write
    case checkpoint
    case recover
    case readMark = "read_mark"
    /// The dead-man switch: attached to the log's index.
    case attached
    case pending
    case reserved
    case shared
  }
}
