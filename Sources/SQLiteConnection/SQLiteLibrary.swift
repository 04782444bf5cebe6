internal import CSQLite

/// The SQLite that this program runs with.
package enum SQLiteLibrary {
  /// Its version, as in `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }

  /// Its version as a number, as in 3040001.
  package static var versionNumber: Int32 { sqlite3_libversion_number() }

  /// The check-in it was built from.
  package static var sourceID: String { String(cString: sqlite3_sourceid()) }

  /// Whether a checkpoint beside a writer that starts the log anew can lose committed pages.
  ///
  /// So in 3.7.0 to 3.51.2 (sqlite.org/wal.html, "The WAL-reset bug").
  package static var hasWALResetBug: Bool { isInWALResetRange(versionNumber) }

  /// Returns whether a version has the WAL-reset bug.
  package static func isInWALResetRange(_ version: Int32) -> Bool {
    (3_007_000...3_051_002).contains(version)
  }

  /// Returns whether the library was compiled with an option, named with or without `SQLITE_`.
  package static func compileOption(_ name: String) -> Bool {
    sqlite3_compileoption_used(name) != 0
  }
}
