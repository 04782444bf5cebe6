import CFaultVFS
import FaultPoints

/// Where a process can be killed: at a named place of the library, or at an access to a file.
enum FaultPlace {
  case point(FaultPoint)
  /// In the middle of what SQLite does: among a commit's frames, or a checkpoint's pages.
  case access(fault_access, fault_file, name: String)

  /// All that this build has.
  static let all: [FaultPlace] =
    (hasFaultPoints ? FaultPoint.allCases.map(FaultPlace.point) : []) + [
      .access(FAULT_WRITE, FAULT_LOG, name: "a write to the log"),
      .access(FAULT_WRITE, FAULT_DATABASE, name: "a checkpoint's write to the database"),
      .access(FAULT_SYNC, FAULT_LOG, name: "the sync of the log"),
      .access(FAULT_SYNC, FAULT_DATABASE, name: "the sync of the database"),
      .access(FAULT_TRUNCATE, FAULT_LOG, name: "the cutting of the log"),
      .access(FAULT_OPEN, FAULT_LOG, name: "the opening of the log"),
    ]

  var name: String {
    switch self {
    case .point(let point): point.rawValue
    case .access(_, _, let name): name
    }
  }
}

extension FaultControl {
  /// Has the process at a place killed when it comes there for the `countdown`th time.
  func arm(_ place: FaultPlace, countdown: Int, for slot: Slot) {
    switch place {
    case .point(let point):
      fault_point_set(
        pointer, slot.index, FaultWorker.index(of: point), CInt(FAULT_ACTION_KILL.rawValue),
        Int64(countdown), 0)
    case .access(let access, let file, _):
      set(.kill(access, file, countdown: countdown - 1), for: slot)
    }
  }

  func hasStruck(_ place: FaultPlace, for slot: Slot) -> Bool {
    switch place {
    case .point: fault_point_strikes(pointer, slot.index) > 0
    case .access: strikes(of: FAULT_RULE_KILL, for: slot) > 0
    }
  }

  func disarm(_ place: FaultPlace, for slot: Slot) {
    switch place {
    case .point: _ = fault_point_clear(pointer, slot.index)
    case .access: clear(FAULT_RULE_KILL, for: slot)
    }
  }

  /// How often processes of the run have come to a named place.
  func reached(_ point: FaultPoint) -> UInt64 {
    (0..<CInt(FAULT_PLACES)).reduce(0) {
      $0 + fault_point_reached(pointer, $1, FaultWorker.index(of: point))
    }
  }
}
