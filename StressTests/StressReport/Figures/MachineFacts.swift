import Foundation
import Glibc

/// What a run depends on besides its plan.
package struct MachineFacts: Codable, Hashable, Sendable {
  /// Processors that are online.
  package var cores: Int
  /// What the kernel calls them.
  package var processor: String
  /// The kernel's release.
  package var kernel: String
  /// The version of the SQLite library that this program runs with.
  package var sqlite: String
  /// `debug` or `release`; only the former has fault points.
  package var build: String

  /// Describes a machine.
  package init(cores: Int, processor: String, kernel: String, sqlite: String, build: String) {
    self.cores = cores
    self.processor = processor
    self.kernel = kernel
    self.sqlite = sqlite
    self.build = build
  }

  /// Looks at this machine.
  package static func ofThisMachine() -> MachineFacts {
    var names = utsname()
    uname(&names)
    let release = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return MachineFacts(
      cores: sysconf(CInt(_SC_NPROCESSORS_ONLN)), processor: processor, kernel: release,
      sqlite: sqliteVersion, build: build)
  }

  /// The facts in a line.
  package var text: String {
    "\(cores) cores, \(processor), Linux \(kernel), SQLite \(sqlite), \(build) build"
  }

  private static var processor: String {
    // To its end: the length of a file of /proc is not known beforehand.
    let data = try? FileHandle(forReadingAtPath: "/proc/cpuinfo")?.readToEnd()
    let lines = String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
      ?? "unknown processor"
  }

  /// Asks the library that is loaded: headers would say with what the program was built.
  private static var sqliteVersion: String {
    typealias Version = @convention(c) () -> UnsafePointer<CChar>?
    guard let symbol = dlsym(nil, "sqlite3_libversion") else { return "of unknown version" }
    // The type is that of the function's declaration in sqlite3.h.
    let version = unsafeBitCast(symbol, to: Version.self)
    return version().map { String(cString: $0) } ?? "of unknown version"
  }

  private static var build: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }
}
