import CFaultVFS
import Foundation
import Glibc

/// A disk in memory over the directory of the databases, which can be full for everybody at once.
///
/// It becomes full by being made as small as what is on it: what is written over stays possible, what grows is
/// refused with ENOSPC, for SQLite, for the lock file, and for whoever else writes there.
final class MemoryDisk: Sendable {
  /// Names the mount, with the process that made it.
  private static let prefix = "boutique-stress:"
  private static let room: UInt64 = 4 << 30

  private let directory: String
  private let undoing: Int

  /// Mounts it; nil where this process may not.
  ///
  /// What the directory had is there as before.
  init?(over directory: String) {
    Self.sweep()
    let name = Self.prefix + String(getpid())
    // First elsewhere: what is there has to be copied.
    let inside = directory + ".inside"
    guard (try? FileManager.default.copyItem(atPath: directory, toPath: inside)) != nil else {
      return nil
    }
    defer { try? FileManager.default.removeItem(atPath: inside) }
    guard fault_mount(directory, name, Self.room, 0) == 0 else { return nil }
    self.directory = directory
    undoing = Undoing.later { _ = fault_unmount(directory) }
    Self.copyFiles(from: inside, to: directory)
  }

  /// Makes the disk full; returns whether it is.
  func fill() -> Bool {
    var facts = statvfs()
    guard statvfs(directory, &facts) == 0 else { return false }
    let used = UInt64(facts.f_blocks - facts.f_bfree) * UInt64(facts.f_frsize)
    // Zero would be no limit (tmpfs(5)).
    guard fault_mount(directory, Self.prefix, max(used, UInt64(facts.f_frsize)), 1) == 0 else {
      return false
    }
    return statvfs(directory, &facts) == 0 && facts.f_bavail == 0
  }

  /// Gives it room again.
  func empty() { _ = fault_mount(directory, Self.prefix, Self.room, 1) }

  /// Takes the disk away and leaves its files in the directory below.
  ///
  /// Call it when nobody uses them.
  func close() throws {
    empty()
    let outside = directory + ".outside"
    try FileManager.default.copyItem(atPath: directory, toPath: outside)
    Undoing.now(undoing)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      try FileManager.default.removeItem(atPath: directory + "/" + name)
    }
    Self.copyFiles(from: outside, to: directory)
    try FileManager.default.removeItem(atPath: outside)
  }

  deinit { Undoing.now(undoing) }

  private static func copyFiles(from source: String, to target: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: source)) ?? [] {
      try? FileManager.default.copyItem(
        atPath: source + "/" + name, toPath: target + "/" + name)
    }
  }

  /// Takes away what a killed process has left mounted.
  private static func sweep() {
    // To its end: files of /proc have no size.
    let handle = FileHandle(forReadingAtPath: "/proc/self/mounts")
    let mounts = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
    for line in mounts.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, words[0].hasPrefix(prefix),
        let owner = pid_t(words[0].dropFirst(prefix.count)), kill(owner, 0) != 0, errno == ESRCH
      else { continue }
      // What would end a word is written in octal there; the backslash itself comes last.
      var path = String(words[1])
      for (escape, character) in [
        ("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"),
      ] {
        path = path.replacingOccurrences(of: escape, with: character)
      }
      _ = fault_unmount(path)
    }
  }
}
