import Boutique
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What a directory is like after errors, and what is said of them.
@Suite(.timeLimit(.minutes(2))) struct EngineDiskTroubleTests {
  private func data(_ text: String) -> Data { Data(text.utf8) }

  @Test(arguments: 1...4)
  func `a directory that cannot be synced never holds half a transaction`(failures: Int)
    async throws
  {
    let directory = try TestDirectory()
    let place = directory.url("place")
    let engine = DiskStorageEngine(directory: .init(url: place))
    try await engine.write([(key: "gone1", data: data("1")), (key: "gone2", data: data("2"))])
    DiskFileTesting.failSyncs(of: place.path(percentEncoded: false), count: failures)
    let operations: [StorageOperation] = [
      .remove("gone1"), .remove("gone2"), .write("new1", data("1")), .write("new2", data("2")),
    ]
    do {
      try await engine.apply(operations)
      // An error that did not last.
      #expect(failures < 2)
    } catch let error as BoutiqueError {
      guard case .inputOutput = error else { throw error }
      #expect(failures >= 2)
    }
    DiskFileTesting.failSyncs(of: place.path(percentEncoded: false), count: 0)
    let other = DiskStorageEngine(directory: .init(url: place))
    #expect(try await other.allKeys() == ["new1", "new2"])
    #expect(try await engine.read(key: "new2") == data("2"))
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.file("place"))
    #expect(left.sorted() == [".lock", ".new", "new1", "new2"])
  }

  @Test func `who waits in vain for the lock is told the process that holds it`() async throws {
    let directory = try TestDirectory()
    let engine = DiskStorageEngine(
      directory: .init(url: directory.url("place")), lockTimeout: .milliseconds(50))
    try await engine.write(data("1"), key: "1")
    let holder = Process()
    let (input, output) = (Pipe(), Pipe())
    holder.executableURL = URL(filePath: "/usr/bin/flock")
    holder.arguments = [directory.file("place/.lock"), "sh", "-c", "echo held; read line"]
    holder.standardInput = input
    holder.standardOutput = output
    try holder.run()
    #expect(output.fileHandleForReading.readData(ofLength: 5) == data("held\n"))
    do {
      try await engine.write(data("2"), key: "2")
      Issue.record("it was written")
    } catch BoutiqueError.lockTimeout(let timeout) {
      #expect(timeout.holder?.pid == holder.processIdentifier)
      #expect(timeout.holder?.command.contains("flock") == true)
      #expect("\(BoutiqueError.lockTimeout(timeout))".contains("pid \(holder.processIdentifier)"))
    }
    try input.fileHandleForWriting.close()
    holder.waitUntilExit()
    try await engine.write(data("2"), key: "2")
  }

  @Test func `a directory that cannot be made is told with what is in its way`() async throws {
    let directory = try TestDirectory()
    try "file".write(toFile: directory.file("file"), atomically: true, encoding: .utf8)
    func error(_ body: () async throws -> Void) async -> String {
      do {
        try await body()
        return ""
      } catch {
        return "\(error)"
      }
    }
    for name in ["file", "file/below/below"] {
      let url = directory.url(name)
      let disk = DiskStorageEngine(directory: .init(url: url))
      let sqlite = SQLiteStorageEngine(directory: .init(url: url))
      for text in [
        await error { try await disk.write(Data(), key: "k") },
        await error { try await sqlite.write(Data(), key: "k") },
      ] {
        #expect(text.contains("no directory") && text.contains(directory.file("file")), "\(text)")
        #expect(!text.contains("permission"))
      }
    }
    let nowhere = DiskStorageEngine(directory: .init(url: URL(filePath: "/proc/nowhere/place")))
    let text = await error { try await nowhere.write(Data(), key: "k") }
    #expect(text.contains("/proc/nowhere") && !text.contains("permission"), "\(text)")
  }
}
