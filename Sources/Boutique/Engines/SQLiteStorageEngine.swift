public import BoutiqueDB
public import Foundation

/// Data under keys in a table of an SQLite database that several processes share.
///
/// ```swift
/// let engine = SQLiteStorageEngine.default(appendingPath: "Notes")
/// ```
///
/// Nothing is opened before the first use, which throws what goes wrong; so does every later one. Two engines
/// of one process on one file share one open database. Each method is one transaction or one snapshot.
public actor SQLiteStorageEngine {
  private enum Source {
    case file(URL, BoutiqueConfiguration)
    case database(BoutiqueDB)
  }

  /// The table that the engine keeps its data in.
  public nonisolated let tableName: String

  private let source: Source
  /// The database in which the table is known to be there.
  private var prepared: BoutiqueDB?

  nonisolated var table: StorageTable { StorageTable(name: tableName) }

  /// Creates an engine on a file in a directory; both are made when they are first used.
  ///
  /// - Parameters:
  ///   - directory: the directory.
  ///   - databaseFilename: the file's name without its extension, which is `sqlite3`.
  ///   - tableName: the table, so that several stores can share a file.
  ///   - configuration: how to open the file; of several engines on one file the first one's counts.
  public init(
    directory: FileManager.Directory, databaseFilename: String = "data",
    tableName: String = "data", configuration: BoutiqueConfiguration? = nil
  ) {
    let name = databaseFilename.isEmpty ? "data" : databaseFilename
    self.tableName = tableName
    source = .file(
      directory.url.appending(path: name + ".sqlite3", directoryHint: .notDirectory),
      configuration ?? Self.configuration)
  }

  /// Creates an engine on a table of a database that is open.
  public init(database: BoutiqueDB, tableName: String = "data") {
    self.tableName = tableName
    source = .database(database)
  }

  /// Returns an engine on `$XDG_DATA_HOME/<process name>/<path>/data.sqlite3`.
  public static func `default`(appendingPath path: String) -> SQLiteStorageEngine {
    SQLiteStorageEngine(directory: .defaultStorageDirectory(appendingPath: path))
  }

  /// Returns an engine on `$XDG_DATA_HOME/<process name>/Data/data.sqlite3`.
  public static var `default`: SQLiteStorageEngine { .default(appendingPath: "Data") }

  /// How files are opened that the engine opens itself.
  private static var configuration: BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    // A store that is told only that its table has changed reads all of it.
    configuration.captureRowLimit = 10_000
    return configuration
  }

  /// Returns the open database, with the table in it; opens it at the first call.
  public func database() async throws -> BoutiqueDB {
    let db =
      switch source {
      case .file(let url, let configuration):
        if let prepared {
          prepared
        } else {
          try await SharedDatabases.database(at: url, configuration: configuration)
        }
      case .database(let db): db
      }
    if prepared !== db {
      try await table.prepare(in: db)
      prepared = db
    }
    return db
  }

  /// Runs something with the database; when the file was replaced, the next use opens it anew.
  func withDatabase<R: Sendable>(
    _ body: @Sendable (BoutiqueDB) async throws -> R
  ) async throws -> R {
    let db = try await database()
    do {
      return try await body(db)
    } catch {
      noteFailure(error, of: db)
      throw error
    }
  }

  func noteFailure(_ error: any Error, of db: BoutiqueDB) {
    switch error {
    case BoutiqueError.fileReplaced, BoutiqueError.closed, BoutiqueError.directoryMissing,
      BoutiqueError.fileMissing:
      SharedDatabases.forget(db)
      if prepared === db { prepared = nil }
    default: break
    }
  }

  private func read<R: Sendable>(
    _ body: @escaping @Sendable (StorageTable, BoutiqueConnection) throws -> R
  ) async throws -> R {
    let table = table
    return try await withDatabase { db in try await db.read { try body(table, $0) } }
  }
}

extension SQLiteStorageEngine: StorageEngine {
  /// Writes in one transaction.
  public func apply(_ operations: [StorageOperation]) async throws {
    guard !operations.isEmpty else { return }
    let table = table
    try await withDatabase { db in
      try await db.write { try table.apply(operations, $0) }
    }
    if operations == [.removeAll] {
      // Whoever removes everything from a store does not wait for the file to be made small.
      Task { try? await shrink() }
    }
  }

  /// Writes data under a key, in the place of what is there.
  public func write(_ data: Data, key: CacheKey) async throws {
    try await apply([.write(key, data)])
  }

  /// Writes several, all or nothing; of a key that is given twice the last one counts.
  public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
    try await apply(dataAndKeys.map { .write($0.key, $0.data) })
  }

  /// Removes what lies under a key, if there is something.
  public func remove(key: CacheKey) async throws { try await apply([.remove(key)]) }

  /// Removes what lies under several keys, all or nothing.
  public func remove(keys: [CacheKey]) async throws { try await apply(keys.map { .remove($0) }) }

  /// Removes everything, and then rebuilds the file if most of it is unused by now.
  ///
  /// A database that was given to the engine is not rebuilt: there may be more in it, and it is another's.
  public func removeAllData() async throws {
    let table = table
    try await withDatabase { db in
      try await db.write { try table.apply([.removeAll], $0) }
    }
    // What was asked for is done; that the file is still large is no reason to say otherwise.
    try? await shrink()
  }

  private func shrink() async throws {
    guard case .file = source else { return }
    try await withDatabase { db in
      let (unused, all, size) = try await db.read { connection in
        func number(_ pragma: String) throws -> Int {
          try connection.query("PRAGMA \(pragma)")[0].decode(0)
        }
        return (try number("freelist_count"), try number("page_count"), try number("page_size"))
      }
      guard unused * size >= 128 << 10, unused * 2 > all else { return }
      try await db.vacuum()
      // Until then the file is as long as it was.
      _ = try await db.checkpoint(.truncate)
    }
  }

  /// Returns what lies under a key, or nil.
  public func read(key: CacheKey) async throws -> Data? {
    try await read(keys: [key]).first
  }

  /// Returns what lies under those of the keys that are there.
  public func read(keys: [CacheKey]) async throws -> [Data] {
    try await read { try $0.entries(under: keys, $1).map(\.data) }
  }

  /// Returns what lies under those of the keys that are there, with the keys and in their order.
  public func readDataAndKeys(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
    try await read { try $0.entries(under: keys, $1) }.map { ($0.key, $0.data) }
  }

  /// Returns everything, in the order in which it was first written.
  public func readAllData() async throws -> [Data] {
    try await read { try $0.allEntries($1).map(\.data) }
  }

  /// Returns everything with its keys, in the order in which they were first written.
  public func readAllDataAndKeys() async throws -> [(key: CacheKey, data: Data)] {
    try await read { try $0.allEntries($1) }.map { ($0.key, $0.data) }
  }

  /// Returns whether something lies under a key.
  public func keyExists(_ key: CacheKey) async throws -> Bool {
    try await !keysExist([key]).isEmpty
  }

  /// Returns those of the keys that are there, in the order given.
  public func keysExist(_ keys: [CacheKey]) async throws -> [CacheKey] {
    try await read { try $0.existing(keys, $1) }
  }

  /// Returns how many keys there are.
  public func keyCount() async throws -> Int { try await read { try $0.count($1) } }

  /// Returns all keys, in the order in which they were first written.
  public func allKeys() async throws -> [CacheKey] { try await read { try $0.keys($1) } }

  /// Returns when a key was first written; nil when it is not there.
  public func createdAt(key: CacheKey) async throws -> Date? {
    try await read { try $0.times(of: key, $1)?.created }
  }

  /// Returns when a key was last written; nil when it is not there.
  public func updatedAt(key: CacheKey) async throws -> Date? {
    try await read { try $0.times(of: key, $1)?.updated }
  }
}
