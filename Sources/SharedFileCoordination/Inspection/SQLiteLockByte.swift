/// The bytes that SQLite itself locks, by name.
///
/// On the `-shm` file (SQLite, WAL-mode file format, 2.3): 120 write, 121 checkpoint, 122 recovery,
/// 123 to 127 the five read marks, 128 the dead-man switch that says that somebody is attached. On
/// the database file (SQLite, `os.h`): pending, reserved and the shared range at one GiB.
package enum SQLiteLockByte: Sendable, Hashable, Codable {
  case write
  case checkpoint
  case recovery
  /// A reader that uses read mark 0 to 4.
  case readMark(Int)
  case attached
  case pending
  case reserved
  case shared

  /// Which file a byte belongs to.
  package enum File: Sendable {
    case sharedMemory
    case database
  }

  /// Names a byte of one of the files, nil when SQLite does not lock it.
  package init?(_ byte: Int64, in file: File) {
    switch (file, byte) {
    case (.sharedMemory, 120): self = .write
    case (.sharedMemory, 121): self = .checkpoint
    case (.sharedMemory, 122): self = .recovery
    case (.sharedMemory, 123...127): self = .readMark(Int(byte - 123))
    case (.sharedMemory, 128): self = .attached
    case (.database, 1_073_741_824): self = .pending
    case (.database, 1_073_741_825): self = .reserved
    case (.database, 1_073_741_826...1_073_742_335): self = .shared
    default: return nil
    }
  }

  /// Returns the names of all bytes in a lock's range.
  package static func names(in lock: KernelLock, of file: File) -> [SQLiteLockByte] {
    let all: ClosedRange<Int64> =
      file == .sharedMemory ? 120...128 : 1_073_741_824...1_073_741_826
    return all.compactMap { byte in
      // The shared range is one thing however much of it is locked.
      let isShared = file == .database && byte == 1_073_741_826
      let hit = isShared ? lock.end >= byte && lock.start <= 1_073_742_335 : lock.covers(byte)
      return hit ? SQLiteLockByte(byte, in: file) : nil
    }
  }
}

extension SQLiteLockByte: CustomStringConvertible {
  /// The name in words.
  package var description: String {
    switch self {
    case .write: "write"
    case .checkpoint: "checkpoint"
    case .recovery: "recovery"
    case .readMark(let number): "read mark \(number)"
    case .attached: "attached"
    case .pending: "pending"
    case .reserved: "reserved"
    case .shared: "shared"
    }
  }
}
