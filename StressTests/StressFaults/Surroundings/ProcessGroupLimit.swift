import Foundation
import Glibc

/// A limit of the number of processes and threads, by a control group of its own for one process.
///
/// `RLIMIT_NPROC` does not bind root (setrlimit(2)); a control group binds everybody, and counts how often it
/// refused. Where neither is to be had, the fault does not strike, and says so.
final class ProcessGroupLimit {
  private let directory: String
  private let home: String
  private let process: pid_t
  private let undoing: Int

  /// Puts the process into a group that has room for what it has now; nil where that is not allowed.
  init?(_ process: pid_t) {
    for parent in Self.candidates() {
      let directory = "\(parent)/boutique-stress-\(getpid())-\(process)"
      guard mkdir(directory, 0o755) == 0 else { continue }
      let home = Self.home(of: process, under: parent)
      guard Self.write(String(process), to: directory + "/cgroup.procs"),
        let count = Self.number(directory + "/pids.current"),
        Self.write(String(count), to: directory + "/pids.max")
      else {
        _ = Self.write(String(process), to: home + "/cgroup.procs")
        rmdir(directory)
        continue
      }
      self.directory = directory
      self.home = home
      self.process = process
      undoing = Undoing.later {
        _ = Self.write("max", to: directory + "/pids.max")
        // The process's children are in the group, too.
        for member in Self.members(of: directory) {
          _ = Self.write(member, to: home + "/cgroup.procs")
        }
        rmdir(directory)
      }
      return
    }
    return nil
  }

  /// How often the group has refused a thread or a process.
  var refusals: Int {
    let text = (try? String(contentsOfFile: directory + "/pids.events", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line -> Int? in
      line.hasPrefix("max ") ? Int(line.dropFirst(4)) : nil
    }.first ?? 0
  }

  /// Puts the process back where it was and takes the group away.
  func end() { Undoing.now(undoing) }

  deinit { Undoing.now(undoing) }

  /// Where groups that limit processes can be made: of the first kind of control groups, or of the second.
  private static func candidates() -> [String] {
    ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].filter { access($0 + "/cgroup.procs", W_OK) == 0 }
  }

  private static func members(of directory: String) -> [String] {
    let text = (try? String(contentsOfFile: directory + "/cgroup.procs", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { String($0) }
  }

  /// Takes away the groups of runs whose leading process was killed.
  static func sweep() {
    for parent in candidates() {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
      for name in names where name.hasPrefix("boutique-stress-") {
        guard let leader = name.split(separator: "-").dropFirst(2).first.flatMap({ pid_t($0) }),
          kill(leader, 0) != 0, errno == ESRCH
        else { continue }
        let directory = parent + "/" + name
        for member in members(of: directory) { _ = write(member, to: parent + "/cgroup.procs") }
        rmdir(directory)
      }
    }
  }

  private static func home(of process: pid_t, under parent: String) -> String {
    let handle = FileHandle(forReadingAtPath: "/proc/\(process)/cgroup")
    let text = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
    for line in text.split(separator: "\n") {
      let words = line.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count == 3, words[1] == "pids" || words[1].isEmpty else { continue }
      let directory = parent + words[2]
      if access(directory + "/cgroup.procs", W_OK) == 0 { return directory }
    }
    return parent
  }

  private static func write(_ text: String, to path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
  }

  private static func number(_ path: String) -> Int? {
    let text = try? String(contentsOfFile: path, encoding: .utf8)
    return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }
}
