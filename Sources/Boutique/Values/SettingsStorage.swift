public import BoutiqueDB
import Foundation
import Synchronization

/// Where stored values live: one database that any number of values and processes share.
///
/// ```swift
/// SettingsStorage.default = .shared(group: "org.example.notes")   // first thing in each program
/// ```
///
/// Making one opens nothing. The database is opened, once in a process, when the first of its values is
/// used, and stays open until ``close()``. All that name the same file share it.
public final class SettingsStorage: Sendable {
  let source: SettingsDatabase.Source
  let keySource: SecureKeySource?
  private let own: Mutex<SettingsEngine?> = Mutex(nil)

  private init(_ source: SettingsDatabase.Source, key: SecureKeySource?) {
    self.source = source
    keySource = key
  }

  // MARK: Places

  private static let chosen: Mutex<SettingsStorage?> = Mutex(nil)

  /// The storage of values that name none: at first `$XDG_CONFIG_HOME/<process name>/settings.db`.
  ///
  /// A program that shares its settings with programs of other names sets it before it uses a value; a
  /// value that has been used stays where it is.
  public static var `default`: SettingsStorage {
    get {
      chosen.withLock { chosen in
        let storage = chosen ?? shared(group: ProcessInfo.processInfo.processName)
        chosen = storage
        return storage
      }
    }
    set { chosen.withLock { $0 = newValue } }
  }

  /// Names the settings that cooperating programs of one user share: `$XDG_CONFIG_HOME/<group>/<filename>`.
  ///
  /// The directory is made with mode 0700 when it is missing.
  ///
  /// - Parameters:
  ///   - group: the agreed name, by custom in reverse-domain form, without slashes.
  ///   - key: where the key of secure values comes from; by default a file in
  ///     `$XDG_DATA_HOME/<group>/keys`.
  public static func shared(
    group: String, filename: String = "settings.db", key: SecureKeySource? = nil
  ) -> SettingsStorage {
    SettingsStorage(
      .file(
        Result {
          try BoutiqueDB.configurationURL(group: group, filename: filename)
            .path(percentEncoded: false)
        }),
      key: key ?? .defaultFile(group: group, filename: filename))
  }

  /// Names a settings database by its path; its directory must exist.
  ///
  /// - Parameter key: where the key of secure values comes from; by default a file in
  ///   `$XDG_DATA_HOME/boutique-keys` whose name is made from the path.
  public static func path(_ path: String, key: SecureKeySource? = nil) -> SettingsStorage {
    SettingsStorage(
      .file(.success(FilePlace.resolve(path))),
      key: key ?? .defaultFile(database: FilePlace.resolve(path)))
  }

  /// Keeps values in an open database of the program's, in the tables `stored_value` and `stored_secret`.
  ///
  /// - Parameter key: where the key of secure values comes from; otherwise as for ``path(_:key:)``.
  public static func database(_ db: BoutiqueDB, key: SecureKeySource? = nil) -> SettingsStorage {
    SettingsStorage(
      .given(db), key: key ?? (db.path == ":memory:" ? nil : .defaultFile(database: db.path)))
  }

  /// Makes a storage in memory, for tests and previews; each call makes another one.
  public static func memory() -> SettingsStorage { SettingsStorage(.memory, key: nil) }

  // MARK: The whole of it

  /// Waits until what is stored has been read and is followed.
  ///
  /// Values of a file need not wait: they are read when they are first looked at.
  ///
  /// - Throws: why it cannot be read; it is tried again in the background all the same.
  public func load() async throws { try await engine.loaded() }

  /// Waits until every change that was made so far is committed.
  ///
  /// For the end of a program, and wherever a change has to be safe.
  ///
  /// - Throws: the first failure of a change since the last call of which nobody was told.
  public func synchronize() async throws {
    guard let engine = existingEngine else { return }
    do {
      try await engine.line.allEnded()
    } catch {
      await engine.settle()
      throw error
    }
    await engine.settle()
  }

  /// Blocks the calling thread until every change that was made so far is committed.
  ///
  /// For a program that has no task to await in, as the last thing it does. May be called on the main
  /// thread.
  ///
  /// - Throws: as ``synchronize()``, or ``StoredValueError/flushTimedOut(path:unwritten:)``.
  @available(*, noasync, renamed: "synchronize()")
  public func flush(timeout: Duration = .seconds(15)) throws {
    try existingEngine?.line.waitUntilEmpty(for: timeout)
  }

  /// Commits every change, and closes the database unless it is the program's own.
  ///
  /// A value that is used afterwards opens it again.
  ///
  /// - Throws: as ``synchronize()``; it is closed all the same.
  public func close() async throws {
    guard let engine = existingEngine else { return }
    forget(engine)
    try await engine.close()
  }

  // MARK: Problems

  private static let handler: Mutex<(@Sendable (StoredValueProblem) -> Void)?> = Mutex(nil)

  /// Is told what goes wrong with stored values: what a value's `error` shows, and failed changes.
  ///
  /// At first it writes a line to standard error. Called on any thread, must return soon.
  public static var problemHandler: @Sendable (StoredValueProblem) -> Void {
    get { handler.withLock(\.self) ?? { StoredValueProblem.print($0) } }
    set { handler.withLock { $0 = newValue } }
  }

  static func report(_ problem: StoredValueProblem) { problemHandler(problem) }

  // MARK: The engine

  /// The engine of this place in this process.
  var engine: SettingsEngine {
    switch source {
    case .file(.success(let path)): return SettingsRegistry.engine(of: path, source)
    case .given(let db): return SettingsRegistry.engine(of: db, source)
    case .memory, .file(.failure):
      return own.withLock { own in
        let engine = own ?? SettingsEngine(SettingsDatabase(source))
        own = engine
        return engine
      }
    }
  }

  private var existingEngine: SettingsEngine? {
    switch source {
    case .file(.success(let path)): SettingsRegistry.existingEngine(of: path)
    case .given(let db): SettingsRegistry.existingEngine(of: db)
    case .memory, .file(.failure): own.withLock(\.self)
    }
  }

  private func forget(_ engine: SettingsEngine) {
    SettingsRegistry.forget(engine)
    own.withLock { if $0 === engine { $0 = nil } }
  }
}

/// Something that went wrong with stored values.
public struct StoredValueProblem: Sendable {
  /// The database.
  public var path: String
  /// The value; nil when it is about all of them.
  public var key: String?
  /// What went wrong.
  public var error: any Error

  /// Creates a description.
  public init(path: String, key: String?, error: any Error) {
    self.path = path
    self.key = key
    self.error = error
  }

  static func print(_ problem: StoredValueProblem) {
    let subject = problem.key.map { "stored value “\($0)”" } ?? "stored values"
    let line = "\(subject) of \(problem.path): \(problem.error)\n"
    FileHandle.standardError.write(Data(line.utf8))
  }
}
