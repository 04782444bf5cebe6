import BoutiqueDB
import Foundation
import Glibc

extension Blackbird.Database {
  /// Returns the files that a database at a path consists of, whether they exist or not.
  ///
  /// The database, its write-ahead log, the log's index, and the file with which processes take turns.
  public static func allFilePaths(for path: String) -> [String] {
    [path, path + "-wal", path + "-shm", path + "-lock"]
  }

  /// Deletes the files of a database, where they exist.
  ///
  /// No process should have it open: others get an error from their next call, and what they wrote is lost.
  ///
  /// - Throws: ``Error/anotherInstanceExistsWithPath(path:)`` where this process has it open; an error of
  ///   `FileManager` where a file cannot be deleted.
  public static func delete(atPath path: String) throws {
    let resolved = FileLook.resolved(path)
    guard !InstanceRegistry.isOpen(resolved) else {
      throw Error.anotherInstanceExistsWithPath(path: path)
    }
    // The database first: without it SQLite takes nothing from a log that is left.
    for file in allFilePaths(for: resolved) where FileManager.default.fileExists(atPath: file) {
      try FileManager.default.removeItem(atPath: file)
    }
  }

  /// Copies the database, as of one moment, into a new file.
  ///
  /// Others go on reading and writing. The copy appears under its name only when it is complete.
  ///
  /// - Parameters:
  ///   - path: the file to make.
  ///   - pagesPerStep: without effect; the copy is made of one snapshot and holds nobody up.
  ///   - overwrite: whether an existing file may be replaced.
  /// - Throws: ``Error/backupError(error:)``, or `CancellationError`.
  public func backup(to path: String, pagesPerStep: Int32 = 100, overwrite: Bool = false)
    async throws
  {
    let engine = try await engine()
    do {
      try await engine.backup(to: URL(filePath: path), overwrite: overwrite)
    } catch let error as BoutiqueError {
      throw Error.backupError(error: Blackbird.SQLiteError(error))
    }
  }
}
