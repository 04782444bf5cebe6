import Foundation

/// Compiles code as a user's package would, against the modules that these tests were built with.
enum UserCompiler {
  /// The directory of the built products.
  static var products: URL {
    // The argument that names the bundle; the runner itself lies elsewhere.
    let path = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(filePath: path).deletingLastPathComponent()
  }

  /// Runs the compiler and returns what it said.
  static func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    try shell(
      [
        "swiftc", "-swift-version", "6", "-package-name", "user",
        "-I", products.appending(path: "Modules").path, "-load-plugin-executable",
        products.appending(path: "StructuredQueriesPlugin-tool").path + "#StructuredQueriesPlugin",
      ] + arguments)
  }

  /// Runs a program and returns what it said.
  static func shell(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }
}
