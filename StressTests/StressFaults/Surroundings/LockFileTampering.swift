import Foundation
import Glibc
import StressHistory

/// What people and tools do to a lock file that they find.
enum LockFileTampering {
  private static let ways = 7

  /// Does one of these things; returns which.
  static func strike(_ path: String, value: Int) -> String? {
    var random = SeededRandom(seed: UInt64(value), purpose: "lock file")
    guard access(path, F_OK) == 0 else { return nil }
    switch value % ways {
    case 0:
      return unlink(path) == 0 ? "deleted" : nil
    case 1:
      return replace(path, with: []) ? "replaced by an empty one" : nil
    case 2:
      guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
      return replace(path, with: Array(bytes)) ? "replaced by a copy" : nil
    case 3:
      return truncate(path, 0) == 0 ? "cut to nothing" : nil
    case 4:
      let length = random.int(1...4095)
      return truncate(path, off_t(length)) == 0 ? "cut to \(length) bytes" : nil
    case 5:
      return overwrite(path, &random)
    default:
      // For root no mode forbids anything.
      if geteuid() == 0 { return replace(path, with: []) ? "replaced by an empty file" : nil }
      return chmod(path, 0) == 0 ? "made unreadable" : nil
    }
  }

  /// Ends what lasts.
  static func end(_ path: String) { chmod(path, 0o600) }

  static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
    let other = path + ".other"
    guard FileManager.default.createFile(atPath: other, contents: Data(bytes)) else { return false }
    return rename(other, path) == 0
  }

  private static func overwrite(_ path: String, _ random: inout SeededRandom) -> String? {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_size > 0 else { return nil }
    // The head as often as the rest together.
    let offset = random.chance(50) ? 0 : random.int(0...Int(facts.st_size) - 1)
    let bytes = (0..<random.int(1...4096)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let written = pwrite(descriptor, bytes, bytes.count, off_t(offset))
    return written > 0 ? "\(written) bytes of rubbish at \(offset)" : nil
  }
}
