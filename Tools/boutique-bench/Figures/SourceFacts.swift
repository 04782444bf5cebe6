import Foundation

/// What a program was made from.
enum SourceFacts {
  /// The version of the compiler, as far as a program can know its own.
  static var swift: String {
    #if compiler(>=6.5)
      "6.5 or later"
    #elseif compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "before 6.3"
    #endif
  }

  /// Asks git in the directory of this program, which lies in the repository's build directory.
  static func commit() -> String {
    let program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let git = Process()
    git.executableURL = URL(filePath: "/usr/bin/env")
    git.arguments = [
      "git", "-C", URL(filePath: program).deletingLastPathComponent().path, "describe", "--always",
      "--dirty", "--exclude=*",
    ]
    let answer = Pipe()
    git.standardOutput = answer
    git.standardError = FileHandle.nullDevice
    guard (try? git.run()) != nil else { return "unknown" }
    let data = (try? answer.fileHandleForReading.readToEnd()) ?? Data()
    git.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return git.terminationStatus == 0 && !text.isEmpty ? text : "unknown"
  }
}
