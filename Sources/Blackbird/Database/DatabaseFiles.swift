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

  /// Deletes the files of a database, where they exist; refused while any process has it open.
  ///
  /// The look at who has it open and the deletion are two steps: a process that opens the file between them
  /// gets an error from its next call, since the engine looks whether its file is still there, and what it
  /// wrote in that moment is lost. Processes of other containers, and other programs that use SQLite without
  /// a write-ahead log, are seen only where the kernel shows them; end those first.
  ///
  /// - Throws: ``Error/anotherInstanceExistsWithPath(path:)`` where an instance of this process has it open,
  ///   ``Error/databaseIsOpen(path:users:)`` where anybody else has; an error of `FileManager` where a file
  ///   cannot be deleted.
  public static func delete(atPath path: String) throws {
    let resolved = FileLook.resolved(path)
    guard !InstanceRegistry.isOpen(resolved) else {
      throw Error.anotherInstanceExistsWithPath(path: path)
    }
    let users = BoutiqueDB.processes(usingDatabaseAt: resolved)
    guard users.isEmpty else { throw Error.databaseIsOpen(path: path, users: users) }
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
