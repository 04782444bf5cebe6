public import BoutiqueDB
public import Foundation
import Synchronization

extension Blackbird {
  /// A SQLite database, shared by all processes that open its file.
  ///
  /// ```swift
  /// let db = try Blackbird.Database(path: "/var/lib/app/app.db")
  /// for row in try await db.query("SELECT id FROM posts WHERE state = ?", 1) { … }
  /// ```
  ///
  /// Safe to use from any task. Reads run side by side; writes wait in line, behind those of other processes
  /// too. No call blocks a thread of Swift's cooperative pool.
  public final class Database: Sendable, Identifiable, Hashable {
    /// Tells the instances of a process apart.
    public typealias InstanceID = Int64

    /// A number that no other instance of this process has.
    public let id: InstanceID
    /// The path of the file as it was given; nil for a database in memory.
    public let path: String?
    /// The options that the database was opened with.
    public let options: Options
    /// How many values a statement can have; longer lists have to be split.
    ///
    /// It is what every SQLite takes that was not built to take fewer.
    public let maxQueryVariableCount = 32_766

    /// What other parts keep for this database.
    let attachments = Attachments()
    /// Where changes come in, and who hears of them.
    package let changes = ChangeCenter()
    private let opening: Task<BoutiqueDB, any Swift.Error>
    private let opened = OpenedEngine()
    private let place: InstanceRegistry.Place?
    private let life = Mutex(Life())
    private static let lastID = Atomic<InstanceID>(0)

    private struct Life {
      var isClosed = false
      var artificialDelay: Duration?
    }

    // MARK: Opening

    /// Begins to open the database at a path; the file is made when it is missing.
    ///
    /// What can be seen from outside is checked at once: whether this process has the file open already, the
    /// directory, what lies at the path, permissions. The rest is done on a thread of the library's own;
    /// every call waits for it and throws what it threw. ``open(path:options:configuration:)`` waits at once.
    ///
    /// - Parameters:
    ///   - path: the file; empty or `:memory:` for a database in memory.
    ///   - options: how it behaves.
    ///   - configuration: the engine's settings: time-outs, the label by which other processes know this
    ///     one. Its `readOnly` and `createIfMissing` are those of `options`.
    /// - Throws: ``Error``.
    public init(
      path: String, options: Options = [],
      configuration: BoutiqueConfiguration = BoutiqueConfiguration()
    ) throws {
      var options = options
      let isInMemory = path.isEmpty || path == ":memory:" || options.contains(.inMemoryDatabase)
      var configuration = configuration
      if options.contains(.readOnly) { configuration.readOnly = true }
      if options.contains(.requireExistingFile) { configuration.createIfMissing = false }
      id = Self.lastID.add(1, ordering: .relaxed).newValue
      guard !isInMemory else {
        options.insert(.inMemoryDatabase)
        options.remove(.monitorForExternalChanges)
        self.path = nil
        self.options = options
        place = nil
        opening = Task { [configuration, opened] in
          try await opened.set(
            BoutiqueDB.open(url: BoutiqueDB.inMemoryURL(), configuration: configuration))
        }
        return
      }
      let resolved = FileLook.resolved(path)
      do {
        try FileLook.check(
          resolved, mustExist: configuration.readOnly || !configuration.createIfMissing,
          readOnly: configuration.readOnly)
      } catch {
        throw Error.opening(error, path: path)
      }
      guard let place = InstanceRegistry.enter(resolved) else {
        throw Error.anotherInstanceExistsWithPath(path: path)
      }
      options.insert(.monitorForExternalChanges)
      self.path = path
      self.options = options
      self.place = place
      opening = Task { [configuration, opened] in
        do {
          return try await opened.set(
            BoutiqueDB.open(path: path, configuration: configuration))
        } catch {
          // A failed instance is in nobody's way.
          InstanceRegistry.leave(place)
          throw Error.opening(error, path: path)
        }
      }
    }

    /// Opens the database at a path and returns when it is open.
    ///
    /// - Throws: ``Error``, or `CancellationError`.
    public static func open(
      path: String, options: Options = [],
      configuration: BoutiqueConfiguration = BoutiqueConfiguration()
    ) async throws -> Database {
      let database = try Database(path: path, options: options, configuration: configuration)
      _ = try await database.engine()
      return database
    }

    /// Makes a new database in memory, which ends with its instance.
    public static func inMemoryDatabase(options: Options = []) throws -> Database {
      try Database(path: "", options: options)
    }

    deinit {
      // The engine gives its files up by itself when it is let go.
      if let place { InstanceRegistry.leave(place) }
    }

    // MARK: Closing

    /// Whether ``close()`` has been called; it may not have ended yet.
    public var isClosed: Bool { life.withLock(\.isClosed) }

    /// Closes the database: writes that wait still run, publishers end, the file is given up.
    ///
    /// Returns when all of it is done. An instance is never opened again; make a new one.
    public func close() async {
      let isFirst = life.withLock { life in
        defer { life.isClosed = true }
        return !life.isClosed
      }
      if isFirst { await attachments.willClose() }
      if let engine = try? await opening.value {
        if isFirst { await changes.drain(engine) }
        await engine.close()
      }
      if let place { InstanceRegistry.leave(place) }
    }

    /// The open engine; waits until it is open.
    ///
    /// Whoever has subscribed to changes before hears of what is written with it.
    ///
    /// - Throws: ``Error`` where it could not be opened or was closed.
    func engine() async throws -> BoutiqueDB {
      let engine = try await openedEngine()
      await changes.untilStarted()
      return engine
    }

    /// The open engine, for those on whom subscribers wait.
    func openedEngine() async throws -> BoutiqueDB {
      if isClosed { throw Error.databaseIsClosed }
      return try await opening.value
    }

    /// The engine, if it is open by now.
    package var openEngine: BoutiqueDB? { opened.engine }

    // MARK: Waiting on purpose

    /// Makes every statement wait first, to see how a program behaves with a slow database; nil ends it.
    ///
    /// - Parameter seconds: how long each waits. Statements inside a transaction do not.
    public func setArtificialQueryDelay(_ seconds: TimeInterval?) async {
      life.withLock { $0.artificialDelay = seconds.map { .seconds(max(0, $0)) } }
    }

    func waitArtificially() async throws {
      guard let delay = life.withLock(\.artificialDelay) else { return }
      try await Task.sleep(for: delay)
    }

    // MARK: Identity

    /// Whether both are the same instance.
    public static func == (a: Database, b: Database) -> Bool { a === b }
    /// Feeds the number of the instance.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }
}
