import BoutiqueDB
import Foundation
import Glibc

/// Who holds the lock of a directory, as the kernel lists it.
enum DiskLockHolder {
  /// Returns a process that holds a lock on an open file; nil where it cannot be told, as in another
  /// container.
  static func find(_ descriptor: CInt) -> LockTimeout.Holder? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0,
      let list = FileManager.default.contents(atPath: "/proc/locks")
    else { return nil }
    for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
      // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:123456 0 EOF; one that waits has "->" behind the number.
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", let pid = pid_t(words[4]), pid > 0,
        words[5].split(separator: ":").last == "\(facts.st_ino)", hasOpen(pid, facts)
      else { continue }
      return LockTimeout.Holder(
        pid: pid, label: "", command: command(pid), isStopped: isStopped(pid), isForeign: false)
    }
    return nil
  }

  /// Whether a process has the file open: inode numbers are those of one file system, whose number in
  /// the list is not always that of `stat`.
  private static func hasOpen(_ pid: pid_t, _ facts: stat) -> Bool {
    let directory = "/proc/\(pid)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.contains { name in
      var other = stat()
      return stat("\(directory)/\(name)", &other) == 0 && other.st_ino == facts.st_ino
        && other.st_dev == facts.st_dev
    }
  }

  private static func command(_ pid: pid_t) -> String {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: " ")
  }

  private static func isStopped(_ pid: pid_t) -> Bool {
    let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/stat") ?? Data()
    // The state stands behind the name, which may have parentheses itself.
    let state = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.first {
      $0 != " "
    }
    return state == "T" || state == "t"
  }
}
