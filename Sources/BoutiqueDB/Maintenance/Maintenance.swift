import FaultPoints
public import Foundation
import SQLiteConnection
import Synchronization

/// How far a checkpoint goes; the names are SQLite's.
public enum CheckpointMode: String, Sendable, CaseIterable {
  /// Moves what no reader is in the way of.
  case passive
  /// Waits for readers, then moves everything.
  case full
  /// As ``full``, and makes the next writer begin the log anew.
  case restart
  /// As ``restart``, and cuts the log to nothing.
  case truncate

  var sqlite: SQLiteConnection.CheckpointMode {
    switch self {
    case .passive: .passive
    case .full: .full
    case .restart: .restart
    case .truncate: .truncate
    }
  }
}

/// What a checkpoint did.
public struct CheckpointResult: Sendable, Hashable {
  /// The pages in the log.
  public var walFrames: Int
  /// How many of them are in the database now.
  public var checkpointedFrames: Int
  /// Whether a reader or a foreign writer kept it from finishing.
  public var isBusy: Bool
}

extension BoutiqueDB {
  /// Moves the write-ahead log into the database, under the write lease.
  ///
  /// It runs by itself as the log grows; call it before copying the file by other means.
  public func checkpoint(_ mode: CheckpointMode = .passive) async throws -> CheckpointResult {
    try await core.maintain(purpose: "checkpoint") { writer in
      FaultPoint.reach(.beforeCheckpoint)
      let result = try writer.sqlite.checkpoint(mode.sqlite)
      FaultPoint.reach(.afterCheckpoint)
      return CheckpointResult(
        walFrames: result.walFrames, checkpointedFrames: result.checkpointedFrames,
        isBusy: result.busy)
    }
  }

  /// Rebuilds the file without unused space (`VACUUM`), under the write lease.
  ///
  /// Needs as much free disk as the database is large. Observers refresh everything.
  public func vacuum() async throws {
    let hub = core.hub
    try await core.maintain(purpose: "vacuum") { writer in
      try writer.sqlite.execute("VACUUM")
      // Row ids of tables without an INTEGER PRIMARY KEY may have changed.
      hub.publish(.everything(after: writer.log.head))
    }
  }

  /// Copies the database, as of one moment, into a new file that needs no side files.
  ///
  /// Others go on reading and writing meanwhile. The copy appears under its name only when it is complete.
  ///
  /// - Parameters:
  ///   - url: the file to make.
  ///   - overwrite: whether an existing file may be replaced.
  public func backup(to url: URL, overwrite: Bool = false) async throws {
    guard url.isFileURL else {
      throw BoutiqueError.invalidPath(
        path: url.absoluteString, message: "it is no file URL; make one with URL(filePath:)")
    }
    try core.checkUsable()
    let destination = url.path(percentEncoded: false)
    try checkIsNoFileOfOurs(destination)
    if !overwrite, FileFacts.exists(destination) {
      throw BoutiqueError.invalidPath(
        path: destination,
        message: "it exists already; pass overwrite: true to replace it, or give another path")
    }
    let mode = core.configuration.filePermissions.mode
    if core.pool == nil {
      try await core.maintain(purpose: "backup") { writer in
        try writer.sqlite.backup(to: destination, fileMode: mode, overwrite: overwrite)
      }
      return
    }
    let core = core
    let flag = CancellationFlag()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        let isStarted = DatabaseThread.start(name: "boutique-backup") {
          done.resume(
            with: Result {
              do {
                try core.files?.check()
                let (source, _) = try core.factory.openReader()
                defer { source.close() }
                try source.backup(to: destination, fileMode: mode, overwrite: overwrite) { _, _ in
                  !flag.isCancelled
                }
              } catch {
                if flag.isCancelled { throw CancellationError() }
                throw BoutiqueError.translate(error, path: core.path, destination: destination)
              }
            })
        }
        if !isStarted { done.resume(throwing: DatabaseThread.missing(path: core.path)) }
      }
    } onCancel: {
      flag.cancel()
    }
  }

  /// Refuses to put a backup in the place of a file of the database, through links too: replacing the log
  /// would undo commits.
  private func checkIsNoFileOfOurs(_ destination: String) throws {
    let resolved = try DatabasePath.resolve(destination)
    for suffix in ["", "-wal", "-shm", "-journal", "-lock"] where resolved == path + suffix {
      throw BoutiqueError.invalidPath(
        path: destination, message: "it belongs to the database itself; choose another name")
    }
  }

  /// Checks the file's structure and its foreign keys.
  ///
  /// - Returns: what is wrong, in SQLite's words; empty when nothing is.
  public func integrityCheck() async throws -> [String] {
    try await core.read { connection in
      var problems = try connection.query("PRAGMA integrity_check").compactMap { row -> String? in
        guard case .text(let text) = row[0], text != "ok" else { return nil }
        return text
      }
      // On a damaged file the second check could fail and take the findings of the first along.
      guard problems.isEmpty else { return problems }
      for row in try connection.query("PRAGMA foreign_key_check") {
        problems.append(
          "row \(row[1]) of \(row[0]) refers to a missing row of \(row[2]) (foreign key \(row[3]))")
      }
      return problems
    }
  }

  /// Removes everything that the program made, and applies the migrations anew.
  ///
  /// One transaction removes all tables, indexes, triggers and views; tokens go on, and observers hear of
  /// it. The file's space is kept for new content; ``vacuum()`` gives it back.
  public func erase() async throws {
    let plan = core.plan
    let path = core.path
    let hub = core.hub
    try await core.maintain(purpose: "erase") { writer in
      let sqlite = writer.sqlite
      try sqlite.execute("PRAGMA foreign_keys = OFF")
      defer { if writer.enforcesForeignKeys { try? sqlite.execute("PRAGMA foreign_keys = ON") } }
      let change = try writer.committing(since: .now(), isOwnWork: true) { connection in
        try Eraser.removeEverything(on: connection)
      }
      if let change { hub.publish(change) }
      try Migrator(plan: plan, path: path).migrate(with: writer)
      hub.publish(.everything(after: writer.log.head))
    }
  }
}

private enum Eraser {
  static func removeEverything(on connection: BoutiqueConnection) throws {
    let internalNames = CaptureSchema.internalTables.union(CaptureSchema.views)
      .union([CaptureSchema.keepTrigger])
    // Views and triggers first, then virtual tables: dropping one removes its shadow tables.
    let objects = try connection.query(
      """
      SELECT type, name FROM (
        SELECT type, name, CASE WHEN type = 'view' THEN 0 WHEN type = 'trigger' THEN 1
          WHEN sql LIKE 'CREATE VIRTUAL TABLE%' THEN 2 ELSE 3 END AS place
        FROM sqlite_schema WHERE type IN ('view', 'trigger', 'table') AND name NOT LIKE 'sqlite\\_%'
          ESCAPE '\\')
      ORDER BY place
      """)
    for object in objects {
      let type = try object.decode("type", as: String.self)
      let name = try object.decode("name", as: String.self)
      guard !internalNames.contains(name) else { continue }
      try connection.execute("DROP \(type.uppercased()) IF EXISTS \(quoted(identifier: name))")
    }
    try connection.execute("DELETE FROM boutiquedb_migration")
    // They hold what the tables held.
    try connection.execute("DELETE FROM boutiquedb_image")
  }
}
