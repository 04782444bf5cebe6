internal import CSQLite

extension Connection {
  /// Opens the file without looking at its content.
  static func open(
    _ path: String, access: ConnectionOptions.Access
  ) throws(SQLiteError) -> OpaquePointer {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      // SQLite would open a temporary database, or the file whose name ends at the NUL.
      throw SQLiteError(
        code: .cantOpen,
        message: path.isEmpty ? "the path is empty" : "the path contains a NUL", path: path)
    }
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
    var name = fileName(path)
    var system: String?
    switch access {
    case .looking(let ignoringLog):
      guard LookingFileSystem.register() else {
        throw SQLiteError(
          code: .error, message: "SQLite has no file system without locks", path: path)
      }
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = LookingFileSystem.uri(path: path, ignoringLog: ignoringLog)
      system = LookingFileSystem.name
    case .unchanging:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = LookingFileSystem.uri(path: path, ignoringLog: true)
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .readWriteCreate: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
    var database: OpaquePointer?
    let code = sqlite3_open_v2(name, &database, flags, system)
    guard code == SQLITE_OK, let database else {
      let error = SQLiteError(code, on: database, path: path)
      sqlite3_close(database)
      throw error
    }
    return database
  }

  /// Returns the name under which SQLite opens the file at a path.
  ///
  /// Debian's SQLite reads every name that begins with `file:` as a URI, flag or no flag (it is
  /// compiled with `SQLITE_USE_URI`). Behind `./` it is a name like any other.
  private static func fileName(_ path: String) -> String {
    path.hasPrefix("file:") ? "./" + path : path
  }

  func harden(_ database: OpaquePointer) throws(SQLiteError) {
    let settings: [(Int32, Int32, String)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1, "DEFENSIVE"),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, "TRUSTED_SCHEMA"),
      (SQLITE_DBCONFIG_DQS_DML, 0, "DQS_DML"),
      (SQLITE_DBCONFIG_DQS_DDL, 0, "DQS_DDL"),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, "ENABLE_LOAD_EXTENSION"),
      (SQLITE_DBCONFIG_ENABLE_FKEY, options.foreignKeys ? 1 : 0, "ENABLE_FKEY"),
      (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, "NO_CKPT_ON_CLOSE"),
    ]
    for (setting, value, name) in settings
    where boutique_sqlite_setting(database, setting, value) != value {
      throw SQLiteError(
        code: .error, message: "SQLite \(SQLiteLibrary.version) cannot set \(name) to \(value)",
        path: path)
    }
    sqlite3_wal_autocheckpoint(database, 0)
    // Neither of these touches the file. A map would turn a truncation by somebody else into
    // SIGBUS.
    try executeUncached("PRAGMA mmap_size = 0")
    if case .looking = options.access {
      try executeUncached("PRAGMA locking_mode = EXCLUSIVE")
      try executeUncached("PRAGMA temp_store = MEMORY")
    }
    if options.queryOnly { try executeUncached("PRAGMA query_only = ON") }
  }
}
