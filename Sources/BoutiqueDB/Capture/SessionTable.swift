import SQLiteConnection
import SharedFileCoordination

/// The sessions that began where the one before had ended, with nobody in between.
///
/// A row is written with the first commit of such a session, and says from which continuity and change
/// counter the chain goes on (`ContinuityBridge.swift`); it goes when that commit's record goes.
enum SessionTable {
  static let name = "boutiquedb_session"

  static let statement = """
    CREATE TABLE IF NOT EXISTS boutiquedb_session (
      continuity INTEGER PRIMARY KEY,
      counter INTEGER NOT NULL,
      former_continuity INTEGER NOT NULL,
      former_counter INTEGER NOT NULL,
      token INTEGER NOT NULL
    )
    """

  /// Notes the bridge over which the commit `token` follows the one before.
  static func insert(_ bridge: ContinuityBridge, token: Int64, on sqlite: Connection) throws {
    let insert = try sqlite.prepare(
      "INSERT OR REPLACE INTO boutiquedb_session VALUES (?1, ?2, ?3, ?4, ?5)")
    defer { insert.reset() }
    try insert.bind(bridge.continuity, at: 1)
    try insert.bind(Int64(bridge.counter), at: 2)
    try insert.bind(bridge.formerContinuity, at: 3)
    try insert.bind(Int64(bridge.formerCounter), at: 4)
    try insert.bind(token, at: 5)
    try insert.run()
  }

  /// Returns the bridge to a continuity; nil when there is none, or not even the table.
  static func bridge(to continuity: Int64, on sqlite: Connection) throws -> ContinuityBridge? {
    do {
      let select = try sqlite.prepare(
        """
        SELECT counter, former_continuity, former_counter FROM boutiquedb_session
          WHERE continuity = ?1
        """)
      defer { select.reset() }
      try select.bind(continuity, at: 1)
      guard try select.step(), let counter = select.counter(0), let former = select.counter(2)
      else { return nil }
      return ContinuityBridge(
        formerContinuity: select.int64(1), formerCounter: former, continuity: continuity,
        counter: counter)
    } catch {
      // A file that was made by an earlier layout, opened for reading.
      guard error.code.primary == .error else { throw error }
      return nil
    }
  }

  /// Forgets the sessions whose first commits are gone.
  static func prune(through token: Int64, on sqlite: Connection) throws {
    let delete = try sqlite.prepare("DELETE FROM boutiquedb_session WHERE token <= ?1")
    defer { delete.reset() }
    try delete.bind(token, at: 1)
    try delete.run()
  }
}
