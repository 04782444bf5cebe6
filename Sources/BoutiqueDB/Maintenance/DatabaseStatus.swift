import Foundation
import SQLiteConnection
import SharedFileCoordination

/// How a database and the processes around it are doing, at one moment.
public struct DatabaseStatus: Sendable, Codable {
  /// A process that has the database open through this library.
  public struct Member: Sendable, Codable, Hashable {
    /// The process number.
    public var pid: Int32
    /// Its label.
    public var label: String
    /// Its command line.
    public var command: String
    /// `running`, `sleeping`, `stopped`, `zombie`, `gone` or `unknown`.
    public var state: String
  }

  /// The process that holds the write lease.
  public struct Holder: Sendable, Codable, Hashable {
    /// Who.
    public var member: Member
    /// What for.
    public var purpose: String?
    /// For how long, in seconds.
    public var heldFor: Double?
  }

  /// A process that waits for the write lease.
  public struct Waiter: Sendable, Codable, Hashable {
    /// Who.
    public var member: Member
    /// For how long, in seconds.
    public var waitingFor: Double
  }

  /// The database file.
  public var path: String
  /// The version of the SQLite library.
  public var sqliteVersion: String
  /// Whether that version can lose commits when a foreign program checkpoints beside a writer (the
  /// WAL-reset bug of 3.7.0 to 3.51.2).
  ///
  /// This library's own checkpoints never do.
  public var sqliteHasWALResetBug: Bool
  /// `wal`, or `memory`.
  public var journalMode: String
  /// The file's size in bytes.
  public var databaseBytes: Int64
  /// The write-ahead log's size in bytes.
  public var writeAheadLogBytes: Int64
  /// Pages in the log, and how many of them are in the database already.
  public var writeAheadLogFrames: Int?
  /// See ``writeAheadLogFrames``.
  public var checkpointedFrames: Int?
  /// What the last failed checkpoint said.
  public var checkpointError: String?
  /// The newest token.
  public var newestToken: ChangeToken
  /// The number of the oldest commit still in the change log; nil when it is empty.
  public var oldestToken: Int64?
  /// How many commits the change log holds.
  public var loggedCommits: Int64
  /// The number up to which records have been removed; 0 when none was, nil when the log is empty.
  public var prunedThrough: Int64?
  /// The number of commits past which records go although a durable consumer waits for them, as this
  /// process is configured.
  public var hardBound: Int64
  /// Whether the log is that long, or a durable consumer's records had to go.
  public var isHardBoundReached: Bool
  /// The durable consumers, by name.
  public var consumers: [DurableConsumer]
  /// The migrations applied, in order.
  public var migrations: [String]
  /// `inotify`, `polling only: <reason>`, `not observing` or `none` (no other process can come).
  public var bell: String
  /// How many live queries and feeds this process has.
  public var observers: Int
  /// How many reads of this process run now, beside the one that finds out the status.
  public var runningReads: Int
  /// How long the oldest of them has held its snapshot, in seconds; it keeps the log from starting anew.
  public var oldestRead: Double?
  /// The processes that have the database open.
  public var members: [Member]
  /// Who writes.
  public var holder: Holder?
  /// Who waits to write, first in line first.
  public var waiters: [Waiter]
  /// Why this process works without the queue (a read-only directory, a full disk); nil when it does not.
  public var coordinationProblem: String?
}

extension BoutiqueDB {
  /// Returns how the database and the processes around it are doing.
  public func status() async throws -> DatabaseStatus {
    let core = core
    // Before the read that finds out the rest, which is not one of those meant.
    let load = core.pool?.load
    return try await core.read { connection in
      let sqlite = connection.sqlite
      let presence = core.presence(on: sqlite)
      let head = try ChangeReader.head(continuity: presence.continuity, on: sqlite)
      let hasLog = !head.generation.isEmpty
      let header = sqlite.walIndexHeader()
      // Opened for reading only it has no slot, but can look all the same.
      let report: LockReport? =
        core.isShared
        ? core.coordination?.report(includesKernelLocks: false)
          ?? LockReport.of(databasePath: core.path) : nil
      let consumers = hasLog ? try DurableConsumer.all(of: core, on: sqlite) : []
      let loggedCommits =
        hasLog ? try sqlite.queryInt64("SELECT count(*) FROM boutiquedb_cdc") ?? 0 : 0
      let hardRows = core.configuration.cdcRetention.hardRows
      return DatabaseStatus(
        path: core.path,
        sqliteVersion: SQLiteLibrary.version,
        sqliteHasWALResetBug: SQLiteLibrary.hasWALResetBug,
        journalMode: try sqlite.queryText("PRAGMA journal_mode") ?? "",
        databaseBytes: FileFacts.size(core.path),
        writeAheadLogBytes: FileFacts.size(core.path + "-wal"),
        writeAheadLogFrames: header.map { Int($0.maxFrame) },
        checkpointedFrames: header.map { Int($0.backfilledFrames) },
        checkpointError: core.checkpointer.lastError,
        newestToken: ChangeToken(head),
        oldestToken: hasLog ? try sqlite.queryInt64("SELECT min(token) FROM boutiquedb_cdc") : nil,
        loggedCommits: loggedCommits,
        prunedThrough: hasLog
          ? try sqlite.queryInt64(
            "SELECT first - 1 FROM boutiquedb_cdc ORDER BY token LIMIT 1") : nil,
        hardBound: Int64(hardRows),
        isHardBoundReached: loggedCommits >= hardRows
          || consumers.contains { $0.isCutOff && !$0.isExpired },
        consumers: consumers,
        migrations: hasLog
          ? try connection.query("SELECT id FROM boutiquedb_migration ORDER BY position")
            .map { try $0.decode(0, as: String.self) } : [],
        bell: core.bellDescription,
        observers: core.hub.observerCount,
        runningReads: load?.running ?? 0,
        oldestRead: load?.oldest?.inSeconds,
        members: report?.members.map { DatabaseStatus.Member($0.process) } ?? [],
        holder: report?.holder.flatMap { holder in
          holder.process.map { process in
            DatabaseStatus.Holder(
              member: DatabaseStatus.Member(process), purpose: holder.purpose,
              heldFor: holder.heldFor?.inSeconds)
          }
        },
        waiters: report?.waiters.compactMap { waiter in
          waiter.process.map { process in
            DatabaseStatus.Waiter(
              member: DatabaseStatus.Member(process), waitingFor: waiter.waitingFor.inSeconds)
          }
        } ?? [],
        coordinationProblem: core.coordination?.degradedReason
          ?? core.coordination?.unlistedReason)
    }
  }
}

extension DatabaseStatus.Member {
  init(_ process: ProcessDescription) {
    self.init(
      pid: process.pid, label: process.label, command: process.command,
      state: process.state.rawValue)
  }
}

extension OpenDatabase {
  /// Whether other processes may have the database open.
  var isShared: Bool { configuration.multiProcess && path != ":memory:" }

  fileprivate var bellDescription: String {
    guard isShared else { return "none" }
    switch hub.bell {
    case nil: return "not observing"
    case .inotify: return "inotify"
    case .pollingOnly(let reason): return "polling only: \(reason)"
    }
  }
}
