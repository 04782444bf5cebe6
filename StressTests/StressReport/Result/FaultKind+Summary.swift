package import StressFaults

extension FaultKind {
  /// What it does to a run, in a line for lists.
  package var summary: String { Self.summaries[self] ?? rawValue }

  /// Written as a table, so that a kind without a line is found by a test and stops nobody's build.
  private static let summaries: [FaultKind: String] = [
    .kill: "kill -9 of a process at a random moment",
    .killAtPoint: "kill -9 of a process at a named place of the library (debug builds)",
    .pause: "SIGSTOP, and SIGCONT a while later",
    .diskFull: "no room on the disk for a while",
    .fileSizeLimit: "files may not grow beyond a size (RLIMIT_FSIZE)",
    .ioError: "reads, writes and truncations fail with EIO",
    .shortWrite: "a write writes a part and fails",
    .failedSync: "fsync fails",
    .slowDisk: "every access to the disk takes its time",
    .processLimit: "no new processes and threads (RLIMIT_NPROC)",
    .descriptorLimit: "no new descriptors (RLIMIT_NOFILE)",
    .inotifyLimit: "no new inotify instances and watches",
    .inotifyOverflow: "the inotify queue overflows",
    .lockFileTampering: "the lock file is deleted, replaced, cut short or written over",
    .logTampering: "what lies behind the last commit in the log is written over",
    .clockStep: "the clock of the day steps forth and back",
    .powerCut:
      "all processes end, and of the files remains what was synced and any part of the rest",
  ]
}
