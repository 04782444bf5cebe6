import Foundation
import Glibc

/// More news of files than the kernel keeps for a process that does not read them.
enum QueueOverflow {
  /// Makes so many events beside the database that the queue of whoever is stopped overflows.
  ///
  /// A file comes and goes in the watched directory: two events that differ, since the kernel puts equal ones that
  /// follow each other together (inotify(7)).
  ///
  /// - Returns: how many events were made.
  static func flood(directory: String) -> Int {
    let setting = "/proc/sys/fs/inotify/max_queued_events"
    let text = try? String(contentsOfFile: setting, encoding: .utf8)
    let limit =
      text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 16384
    let path = directory + "/.overflow"
    // A machine with a far larger queue is left in peace.
    let rounds = min(limit, 200_000) / 2 + 64
    var count = 0
    for _ in 0..<rounds {
      let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { break }
      close(descriptor)
      unlink(path)
      count += 2
    }
    return count
  }
}
