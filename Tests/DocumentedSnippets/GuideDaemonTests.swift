import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// The guide's daemon, compiled from the page itself since its code is a whole `main.swift`.
@Suite struct GuideDaemonTests {
  /// The directory of the built products.
  private var products: URL {
    // The argument that names the bundle; the runner itself lies elsewhere.
    let path = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(filePath: path).deletingLastPathComponent()
  }

  private func compile(_ source: String, to program: String) throws {
    let shims = products.appending(path: "CLinuxShims.build")
    let sources = DocumentedText.root.appending(path: "Sources")
    let maps = [
      sources.appending(path: "CSQLite/module.modulemap"),
      sources.appending(path: "CInotifyTools/module.modulemap"),
      shims.appending(path: "module.modulemap"),
    ]
    var arguments = ["swiftc", "-swift-version", "6", "-warnings-as-errors", source, "-o", program]
    arguments += ["-I", products.appending(path: "Modules").path, "-lsqlite3", "-linotifytools"]
    for map in maps { arguments += ["-Xcc", "-fmodule-map-file=\(map.path)"] }
    let targets = [
      "BoutiqueDB", "StructuredQueries", "SQLiteConnection", "SharedFileCoordination",
      "FaultPoints",
    ]
    for directory in targets.map({ products.appending(path: "\($0).build") }) + [shims] {
      arguments += try FileManager.default.contentsOfDirectory(atPath: directory.path)
        .filter { $0.hasSuffix(".o") }.map { directory.appending(path: $0).path }
    }
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = arguments
    let output = Pipe()
    compiler.standardError = output
    compiler.standardOutput = output
    try compiler.run()
    let said = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0, "\(said)")
  }

  /// The lines of a pipe, as they come.
  private final class Lines {
    private let handle: FileHandle
    private var pending = Data()

    init(_ handle: FileHandle) { self.handle = handle }

    /// Waits for the next line; nil at the end.
    func next() -> String? {
      while true {
        if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
          defer { pending = Data(pending[(end + 1)...]) }
          return String(decoding: pending[..<end], as: UTF8.self)
        }
        let more = handle.availableData
        if more.isEmpty { return nil }
        pending += more
      }
    }
  }

  @Test func `the guide's daemon prints what changes and ends in order on SIGTERM`() async throws {
    let directory = try TestDirectory()
    let code = try #require(try DocumentedText.blocks(of: "docs/guide.md").named["daemon"])
    let source = directory.file("main.swift")
    try code.write(toFile: source, atomically: true, encoding: .utf8)
    try compile(source, to: directory.file("daemon"))

    let daemon = Process()
    daemon.executableURL = directory.url("daemon")
    daemon.arguments = [directory.file("app.db")]
    let output = Pipe()
    daemon.standardOutput = output
    try daemon.run()
    defer { if daemon.isRunning { kill(daemon.processIdentifier, SIGKILL) } }
    // A daemon that says or does nothing ends, too, and with it what is read here.
    let pid = daemon.processIdentifier
    let watchdog = Task {
      try await Task.sleep(for: .seconds(120))
      kill(pid, SIGKILL)
    }
    defer { watchdog.cancel() }
    let lines = Lines(output.fileHandleForReading)
    let first = try #require(lines.next())
    #expect(first.hasPrefix("tables: "))
    let db = try await BoutiqueDB.open(path: directory.file("app.db"))
    try await db.write { conn in try conn.execute("CREATE TABLE job (name TEXT)") }
    #expect(try #require(lines.next()) != first)
    await db.close()
    daemon.terminate()
    #expect(lines.next() == nil)
    daemon.waitUntilExit()
    #expect(daemon.terminationReason == .exit && daemon.terminationStatus == 0)
    #expect(!FileManager.default.fileExists(atPath: directory.file("app.db-wal")))
  }
}
