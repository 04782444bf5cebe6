import CommandLineSupport
import Foundation
import Glibc
import SQLiteConnection
import SharedFileCoordination

/// What figures depend on besides the program.
struct MachineFacts: Codable, Sendable {
  /// Processors that are online.
  let cores: Int
  /// What the kernel calls them.
  let processor: String
  /// The kernel's release.
  let kernel: String
  /// Where the databases lie.
  let fileSystem: String
  /// The version of the library that this program runs with.
  let sqlite: String
  /// The version of Swift that this program was built with.
  let swift: String
  /// The commit that the sources lie at, with a mark when they were changed; `unknown` outside of a repository.
  let commit: String
  /// `debug` or `release`; figures of the former mean little.
  let build: String
  /// How many threads wanted a processor on average in the last minute, this program aside.
  let loadAtStart: Double

  /// Looks at this machine, and at the file system of a directory.
  static func collect(directory: String) -> MachineFacts {
    var names = utsname()
    uname(&names)
    let release = withUnsafePointer(to: &names.release) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
    }
    var loads = [0.0]
    getloadavg(&loads, 1)
    let mounts = text(of: "/proc/self/mountinfo")
    return MachineFacts(
      cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)), processor: processor, kernel: release,
      // Without a magic number the table of mounts alone is asked.
      fileSystem: FileSystemCheck.judge(magic: 0, directory: directory, mountInfo: mounts).kind,
      sqlite: SQLiteLibrary.version, swift: SourceFacts.swift, commit: SourceFacts.commit(),
      build: build, loadAtStart: loads[0])
  }

  /// The facts as lines for people.
  var lines: [String] {
    let load = String(format: "%.2f", loadAtStart)
    return [
      "machine: \(cores) cores, \(processor), Linux \(kernel); load \(load) at the start",
      "SQLite \(sqlite) on \(fileSystem); Swift \(swift), \(build) build, commit \(commit)",
    ]
  }

  private static var processor: String {
    for line in text(of: "/proc/cpuinfo").split(separator: "\n") where line.hasPrefix("model name")
    {
      return line.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
    }
    return "unknown processor"
  }

  private static var build: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }

  /// Returns a file of `/proc` to its end, which is not known beforehand.
  static func text(of path: String) -> String {
    let data = try? FileHandle(forReadingAtPath: path)?.readToEnd()
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
