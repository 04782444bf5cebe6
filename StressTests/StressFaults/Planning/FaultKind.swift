/// What a run does to its processes and their surroundings.
package enum FaultKind: String, Codable, Sendable, CaseIterable {
  /// SIGKILL at a random moment.
  case kill
  /// SIGKILL at a named place of the library; debug builds only.
  case killAtPoint
  /// SIGSTOP, and SIGCONT a while later.
  case pause
  /// The disk has no room for a while.
  case diskFull
  /// A limit of the files' size (`RLIMIT_FSIZE`).
  case fileSizeLimit
  /// Reads, writes and truncations fail with EIO.
  case ioError
  /// A write writes a part and then fails.
  case shortWrite
  /// fsync fails.
  case failedSync
  /// Every access to the disk takes its time.
  case slowDisk
  /// No new processes and threads (`RLIMIT_NPROC`, or a control group where that does not bind).
  case processLimit
  /// No new descriptors (`RLIMIT_NOFILE`).
  case descriptorLimit
  /// No new inotify instances or watches.
  case inotifyLimit
  /// So many events that the inotify queue overflows.
  case inotifyOverflow
  /// The lock file is deleted, replaced, cut short or written over.
  case lockFileTampering
  /// What lies behind the last commit in the write-ahead log is written over while nobody writes.
  case logTampering
  /// The clock of the day steps forth and back.
  case clockStep
  /// All processes end at once, and of the files remains what was synced and any part of the rest.
  case powerCut
}

extension FaultKind {
  /// The kind in words, as a sentence begins with it.
  package var words: String {
    switch self {
    case .kill: "kill"
    case .killAtPoint: "kill at a named place"
    case .pause: "pause"
    case .diskFull: "full disk"
    case .fileSizeLimit: "limit of the files' size"
    case .ioError: "I/O errors"
    case .shortWrite: "short writes"
    case .failedSync: "failed syncs"
    case .slowDisk: "slow disk"
    case .processLimit: "limit of processes"
    case .descriptorLimit: "limit of descriptors"
    case .inotifyLimit: "limit of inotify"
    case .inotifyOverflow: "overflow of inotify's queue"
    case .lockFileTampering: "tampering with the lock file"
    case .logTampering: "tampering with the log"
    case .clockStep: "step of the clock"
    case .powerCut: "power cut"
    }
  }
}
