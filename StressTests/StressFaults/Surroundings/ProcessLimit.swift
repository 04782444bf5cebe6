import CFaultVFS
import Foundation
import Glibc

/// A soft limit of a running process, changed from outside (prlimit(2)).
struct ProcessLimit {
  private let process: pid_t
  private let resource: CInt
  private let former: UInt64

  /// Sets it; nil where that is not allowed or the process is gone.
  init?(_ process: pid_t, _ resource: CInt, to limit: UInt64) {
    var former: UInt64 = 0
    guard fault_limit_set(process, resource, limit, &former) == 0 else { return nil }
    self.process = process
    self.resource = resource
    self.former = former
  }

  /// Gives the process back what it had.
  func end() { _ = fault_limit_set(process, resource, former, nil) }

  static let descriptors = CInt(RLIMIT_NOFILE.rawValue)
  static let fileSize = CInt(RLIMIT_FSIZE.rawValue)
  static let processes: CInt = 6
}

/// What a process has open.
enum OpenDescriptors {
  static func numbers(of process: pid_t) -> [Int] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    return (names ?? []).compactMap { Int($0) }
  }

  /// The size of the largest file that is open and is not one of a database.
  static func largestFile(of process: pid_t, besides database: String) -> UInt64 {
    var largest: UInt64 = 0
    for number in numbers(of: process) {
      let link = "/proc/\(process)/fd/\(number)"
      var facts = stat()
      guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
        !path.hasPrefix(database), stat(link, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
        // Read only files do not grow.
        isOpenForWriting(process, number)
      else { continue }
      largest = max(largest, UInt64(facts.st_size))
    }
    return largest
  }

  /// Whether it listens to the kernel's news of files.
  static func hasWatch(_ process: pid_t) -> Bool {
    numbers(of: process).contains { text(process, $0).contains("inotify wd:") }
  }

  private static func isOpenForWriting(_ process: pid_t, _ number: Int) -> Bool {
    let line = text(process, number).split(separator: "\n").first { $0.hasPrefix("flags:") }
    let flags = line.flatMap { Int($0.dropFirst(6).trimmingCharacters(in: .whitespaces), radix: 8) }
    return flags.map { $0 & Int(O_ACCMODE) != Int(O_RDONLY) } ?? true
  }

  private static func text(_ process: pid_t, _ number: Int) -> String {
    let handle = FileHandle(forReadingAtPath: "/proc/\(process)/fdinfo/\(number)")
    return String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
  }
}
