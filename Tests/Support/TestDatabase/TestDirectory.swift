public import Foundation

/// A directory for one test's files, removed with everything in it when the test lets go of it.
public final class TestDirectory: Sendable {
  /// The directory.
  public let path: String

  /// Makes the directory under `TMPDIR`.
  public init() throws {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    path = base + "/boutique-test-" + UUID().uuidString.lowercased()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the path of a file in the directory.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Returns the URL of a file in the directory.
  public func url(_ name: String) -> URL { URL(filePath: file(name)) }
}
