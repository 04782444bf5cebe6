public import Foundation

/// A live SQLite database that several processes share.
///
/// ```swift
/// let db = try await BoutiqueDB.open(path: "/var/lib/app/app.db", migrations: plan)
/// try await db.write { conn in try conn.execute("INSERT INTO job (name) VALUES (?)", "index") }
/// for try await count in db.observe({ try $0.query("SELECT count(*) FROM job") }) { … }
/// ```
///
/// All processes open the same file, take turns at writing in the order in which they asked, and hear of
/// each other's commits. Safe to use from any task; no call blocks a thread of Swift's cooperative pool.
public final class BoutiqueDB: Sendable {
  let core: OpenDatabase

  init(core: OpenDatabase) { self.core = core }

  // Without an explicit close the files are still given up in order, in the background.
  deinit { core.abandon() }

  // MARK: Opening

  /// Opens a database, makes it when it is missing, and applies the migrations that are not applied yet.
  ///
  /// When several processes open a new file at the same moment, one prepares it and the others wait.
  ///
  /// - Parameters:
  ///   - url: a file URL, or one of ``inMemoryURL()``.
  ///   - configuration: how to open it.
  ///   - migrations: the plan; an empty one accepts any database.
  /// - Throws: ``BoutiqueError``, or `CancellationError`.
  public static func open(
    url: URL, configuration: BoutiqueConfiguration = BoutiqueConfiguration(),
    migrations: BoutiqueMigrationPlan = BoutiqueMigrationPlan()
  ) async throws -> BoutiqueDB {
    if isInMemory(url) {
      return BoutiqueDB(
        core: try await DatabaseOpener.open(
          path: ":memory:", configuration: configuration, plan: migrations))
    }
    guard url.isFileURL else {
      throw BoutiqueError.invalidPath(
        path: url.absoluteString, message: "it is no file URL; make one with URL(filePath:)")
    }
    return try await open(
      path: url.path(percentEncoded: false), configuration: configuration, migrations: migrations)
  }

  /// Opens the database at a path; otherwise as ``open(url:configuration:migrations:)``.
  public static func open(
    path: String, configuration: BoutiqueConfiguration = BoutiqueConfiguration(),
    migrations: BoutiqueMigrationPlan = BoutiqueMigrationPlan()
  ) async throws -> BoutiqueDB {
    let path = try DatabasePath.resolve(path)
    return BoutiqueDB(
      core: try await DatabaseOpener.open(
        path: path, configuration: configuration, plan: migrations))
  }

  /// The path of the database file, links resolved; `:memory:` for one in memory.
  public var path: String { core.path }

  // MARK: Transactions

  /// Runs a closure in one IMMEDIATE transaction and commits it.
  ///
  /// Writes of one process run in the order in which they were asked for; processes take turns. When the
  /// closure throws, or the task is cancelled before the commit has begun, the transaction is rolled back
  /// and nobody hears of it. When this returns, the commit is visible to every process, and to the live
  /// queries of the actor that called it: those that were waiting for a value have got it (but a query that
  /// takes longer than a second is not waited for).
  ///
  /// Small writes that wait at the same time may share one commit (``BoutiqueConfiguration/groupCommitLimit``);
  /// each still is all or nothing by itself, and none returns before the commit.
  ///
  /// - Parameters:
  ///   - priority: a background write lets normal ones go first, of every process, though not for ever.
  ///   - timeout: how long waiting and running may take together, instead of
  ///     ``BoutiqueConfiguration/writeLockTimeout`` for the waiting alone. When it is over while the write
  ///     waits, ``BoutiqueError/lockTimeout(_:)`` is thrown; when it is over before the closure has ended,
  ///     the running statement is interrupted, everything undone, and ``BoutiqueError/writeTimedOut(_:)``
  ///     thrown.
  ///   - isolation: the actor that calls; it is found by itself.
  ///   - body: runs on the database's writer thread, once. It must not wait for another write of the same
  ///     database.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, ``BoutiqueError``, or `CancellationError`.
  @discardableResult
  public func write<R: Sendable>(
    priority: WritePriority = .normal, timeout: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let result = try await core.write(
      purpose: "write", priority: priority, limit: timeout, body)
    await core.hub.settle(isolation: isolation)
    return result
  }

  /// Runs a closure as ``write(priority:timeout:_:)`` does, and says which commit holds it.
  ///
  /// - Returns: what `body` returns, and the token of its commit. When nothing was changed the token is at
  ///   least as new as everything that `body` saw.
  public func writeWithToken<R: Sendable>(
    priority: WritePriority = .normal, timeout: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> (value: R, token: ChangeToken) {
    let result = try await core.writeWithToken(
      purpose: "write", priority: priority, limit: timeout, body)
    await core.hub.settle(isolation: isolation)
    return result
  }

  /// How many writes of this open database wait for their turn.
  package var waitingWriteCount: Int { core.gate?.waitingCount ?? 0 }

  /// Runs a closure in one snapshot: everything it reads is of one moment, whatever others commit.
  ///
  /// - Parameter body: runs on a reader thread. A statement that writes throws
  ///   ``BoutiqueError/writeInRead(sql:)``.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, ``BoutiqueError``, or `CancellationError`.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    try await core.read(body)
  }

  /// Returns the position of the newest commit, to begin a change feed from.
  public func currentToken() async throws -> ChangeToken {
    let core = core
    let position = try await core.read { connection in
      // Before the first statement, and so before the snapshot is taken.
      let presence = core.presence(on: connection.sqlite)
      return try ChangeReader.head(continuity: presence.continuity, on: connection.sqlite)
    }
    return ChangeToken(position)
  }

  /// Returns the position before the oldest commit that the change log still holds, to begin a change feed
  /// from.
  public func oldestToken() async throws -> ChangeToken {
    let core = core
    let position = try await core.read { connection in
      let presence = core.presence(on: connection.sqlite)
      return try ChangeReader.oldest(continuity: presence.continuity, on: connection.sqlite)
    }
    return ChangeToken(position)
  }

  /// Closes the database: pending writes finish, observers end with
  /// ``BoutiqueError/closed(path:)``, the files are given up.
  ///
  /// Returns when all of it is done; a second call waits for the first.
  public func close() async { await core.close() }
}
