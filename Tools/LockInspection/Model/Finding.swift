/// Something about a database that a person should know.
package struct Finding: Codable, Sendable, Equatable {
  package var kind: Kind
  package var severity: Severity
  /// What is the case, in a sentence or two.
  package var text: String
  /// What a person can do, where there is something.
  package var advice: String?

  /// Makes a finding.
  package init(_ kind: Kind, _ severity: Severity, _ text: String, advice: String? = nil) {
    self.kind = kind
    self.severity = severity
    self.text = text
    self.advice = advice
  }

  /// How much it matters.
  package enum Severity: String, Codable, Sendable, Comparable, CaseIterable {
    /// Good to know.
    case note
    /// Nothing is kept from working; something costs speed, order or room.
    case warning
    /// Somebody is kept from working.
    case problem

    package static func < (left: Severity, right: Severity) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  /// What it is about.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case stoppedHolder = "stopped_holder"
    case zombieHolder = "zombie_holder"
    case longHolder = "long_holder"
    case unknownHolder = "unknown_holder"
    case forkedHolder = "forked_holder"
    case foreignWriter = "foreign_writer"
    case foreignCheckpoint = "foreign_checkpoint"
    case rollbackWriter = "rollback_writer"
    case readerHoldsLogBack = "reader_holds_log_back"
    case longWait = "long_wait"
    case stoppedWaiter = "stopped_waiter"
    case cycle
    case leftovers
    case slotTableFull = "slot_table_full"
    case lockFileMissing = "lock_file_missing"
    case lockFileDamaged = "lock_file_damaged"
    case lockFileReplaced = "lock_file_replaced"
    case lockFileUnusable = "lock_file_unusable"
    case databaseReplaced = "database_replaced"
    case consumerBehind = "consumer_behind"
    case notInUse = "not_in_use"
  }
}

/// One process that waits for another.
package struct Wait: Codable, Sendable, Equatable {
  package var waiter: ProcessReference
  package var blocker: ProcessReference
  /// For what, as the end of “waits for …”.
  package var resource: String
  /// For how long; nil when not known.
  package var seconds: Double?

  /// Makes a wait.
  package init(
    waiter: ProcessReference, blocker: ProcessReference, resource: String, seconds: Double? = nil
  ) {
    self.waiter = waiter
    self.blocker = blocker
    self.resource = resource
    self.seconds = seconds
  }
}
