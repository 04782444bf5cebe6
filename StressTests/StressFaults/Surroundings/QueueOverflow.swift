import Dispatch
import Foundation
import Glibc

/// More news of files than the kernel keeps for a process that does not read them.
enum QueueOverflow {
  /// Makes so many events beside the database that the queue of whoever is stopped overflows.
  ///
  /// A file comes and goes in the watched directory: two events that differ, since the kernel puts equal ones that
  /// follow each other together (inotify(7)). Runs on a thread of Dispatch's, for at most half a minute.
  ///
  /// - Returns: how many events were made, and whether these are enough.
  static func flood(directory: String) async -> (count: Int, isComplete: Bool) {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: make(in: directory)) }
    }
  }

  private static func make(in directory: String) -> (count: Int, isComplete: Bool) {
    let setting = "/proc/sys/fs/inotify/max_queued_events"
    let text = try? String(contentsOfFile: setting, encoding: .utf8)
    let limit =
      text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 16384
    let path = directory + "/.overflow"
    // A machine with a far larger queue is left in peace.
    let rounds = min(limit, 200_000) / 2 + 64
    let end = DispatchTime.now() + .seconds(30)
    for round in 0..<rounds {
      let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0, DispatchTime.now() < end else {
        if descriptor >= 0 {
          close(descriptor)
          unlink(path)
        }
        return (2 * round, false)
      }
      close(descriptor)
      unlink(path)
    }
    return (2 * rounds, 2 * rounds > limit)
  }
}
