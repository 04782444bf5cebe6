import CFaultVFS

// What an event means for the file system of the processes that it is for: the event's value, which is drawn from
// the seed, decides which accesses of which files fail, and from which one on.

extension FaultControl.Rule {
  /// The rule of an event, for the kinds that are one.
  init?(_ event: FaultEvent) {
    var value = Digits(event.value)
    switch event.kind {
    case .ioError:
      let accesses = [
        FAULT_READ, FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC, FAULT_SHARED_MEMORY, FAULT_OPEN,
      ].map(\.rawValue)
      // Half of them of one kind of access, half of any.
      let access =
        value.next(of: 2) == 0 ? Self.anyAccess : accesses[value.next(of: accesses.count)]
      self.init(
        kind: FAULT_RULE_ERROR, accesses: access, files: Self.files(&value),
        countdown: value.next(of: 40), strikes: Self.strikes(&value))
    case .shortWrite:
      self.init(
        kind: FAULT_RULE_SHORT_WRITE, accesses: FAULT_WRITE.rawValue, files: Self.files(&value),
        countdown: value.next(of: 20), strikes: Self.strikes(&value),
        parameter: UInt64(event.value))
    case .diskFull:
      self.init(
        kind: FAULT_RULE_FULL, accesses: FAULT_WRITE.rawValue, files: FaultControl.allFiles,
        countdown: 0)
    case .failedSync:
      self.init(
        kind: FAULT_RULE_SYNC, accesses: FAULT_SYNC.rawValue, files: Self.files(&value),
        countdown: 0, strikes: Self.strikes(&value))
    case .slowDisk:
      self.init(
        kind: FAULT_RULE_DELAY, accesses: Self.anyAccess, files: FaultControl.allFiles,
        countdown: 0,
        parameter: UInt64(200 + 100 * value.next(of: 100)))
    case .inotifyLimit:
      self.init(
        kind: FAULT_RULE_WATCH, accesses: FAULT_OPEN.rawValue, files: FAULT_OTHER.rawValue,
        countdown: value.next(of: 2))
    default: return nil
    }
  }

  /// The rule that kills at an access, as ``FaultPlace`` names it.
  static func kill(_ access: fault_access, _ file: fault_file, countdown: Int) -> Self {
    Self(
      kind: FAULT_RULE_KILL, accesses: access.rawValue, files: file.rawValue, countdown: countdown,
      strikes: 1)
  }

  private static let anyAccess = FaultControl.allAccesses

  private static func files(_ value: inout Digits) -> UInt32 {
    switch value.next(of: 4) {
    case 0: FAULT_DATABASE.rawValue
    case 1: FAULT_LOG.rawValue
    default: FaultControl.allFiles
    }
  }

  /// Once, a few times, or as long as the fault lasts.
  private static func strikes(_ value: inout Digits) -> Int { [1, 3, Int.max][value.next(of: 3)] }
}

/// Takes small numbers out of a large one.
struct Digits {
  private var rest: Int

  init(_ value: Int) { rest = Int(clamping: value.magnitude) }

  mutating func next(of count: Int) -> Int {
    defer { rest /= count }
    return rest % count
  }
}
