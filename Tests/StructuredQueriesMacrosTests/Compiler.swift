import Foundation

/// The compiler of the toolchain that the tests run on, with the library and its macros at hand.
struct Compiler {
  private let swiftc: URL
  private let products: URL

  /// Finds the compiler and the products of the build that the tests belong to.
  ///
  /// Both have mapped files into this process, wherever they lie.
  init() throws {
    let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
    let mappings = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    let paths = mappings.split(separator: "\n").compactMap { line in
      line.firstIndex(of: "/").map { URL(filePath: String(line[$0...])) }
    }
    guard let core = paths.first(where: { $0.lastPathComponent == "libswiftCore.so" }),
      let tests = paths.first(where: { $0.pathExtension == "xctest" })
    else { throw NotFound() }
    swiftc = core.appending(path: "../../../../bin/swiftc").standardized
    products = tests.deletingLastPathComponent()
  }

  /// Returns the errors and warnings in a source file, each as `line: message`.
  ///
  /// Those that stand in the expansion of a macro have `expansion` for the line.
  func messages(in source: String, flags: [String] = []) throws -> [String] {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: "source.swift")
    try Data(source.utf8).write(to: file)
    let output = directory.appending(path: "output")
    try Data().write(to: output)

    let process = Process()
    process.executableURL = swiftc
    let plugin = products.appending(path: "StructuredQueriesPlugin-tool").path
    process.arguments =
      [
        "-typecheck", "-swift-version", "6", "-module-name", "Source", "-no-color-diagnostics",
        "-diagnostic-style", "llvm", "-I", products.appending(path: "Modules").path,
        "-load-plugin-executable", "\(plugin)#StructuredQueriesPlugin", file.path,
      ] + flags
    process.standardError = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    return text.split(separator: "\n").compactMap { Self.message(String($0), in: file.path) }
  }

  private static func message(_ line: String, in file: String) -> String? {
    for kind in [": error: ", ": warning: "] {
      guard let range = line.range(of: kind) else { continue }
      let place = line[..<range.lowerBound]
      let isExpansion = !place.hasPrefix(file)
      let number = place.dropFirst(file.count + 1).prefix { $0 != ":" }
      return "\(isExpansion ? "expansion" : number): \(line[range.upperBound...])"
    }
    return nil
  }

  private struct NotFound: Error {}
}
