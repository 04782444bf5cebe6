// The newest row of the change log is where the numbers go on from.
//
// For: tokens that never go back and are never given twice in one generation, without a counter of its own
// that every commit would have to write (AUTOINCREMENT is one: a page more in the log for each commit).
//
// Invariants
//  1. A token is greater than that of every row in the log; it is given inside the write transaction that
//     adds its row. So what has to be kept is the newest row.
//  2. We never delete it: pruning stops before it, and a row that takes the place of another is added
//     before that one goes.
//  3. Nobody else does: a trigger passes over it. `DELETE FROM boutiquedb_cdc` leaves one row, which continues
//     nothing for whoever was behind it: the gap rule tells them.
//  4. Where there is none all the same (a tool switched triggers off, or dropped the table), the numbers start
//     again and it is another generation. `boutiquedb_meta` says whether the log ever had a row; that is
//     written with the first.
//
// What is not noticed: a tool that switches triggers off and deletes the newest rows but not all. Numbers are
// then given again; those who read the log still see a break, by the counters that each row carries.
//
// Files that were made when the column was AUTOINCREMENT keep it, and go by `sqlite_sequence`: making the
// table anew would cost a copy of the log and have every process refresh everything.

import SQLiteConnection

extension CaptureSchema {
  private static let keepTriggerStatement = """
    CREATE TRIGGER IF NOT EXISTS boutiquedb_keep BEFORE DELETE ON boutiquedb_cdc
      WHEN old.token = (SELECT max(token) FROM boutiquedb_cdc)
      BEGIN SELECT RAISE(IGNORE); END
    """

  /// An expression for whether the log is one that needs the trigger and does not have it.
  static let needsKeepTrigger = """
    EXISTS (SELECT 1 FROM sqlite_schema
        WHERE type = 'table' AND name = 'boutiquedb_cdc' AND sql NOT LIKE '%AUTOINCREMENT%')
      AND NOT EXISTS (SELECT 1 FROM sqlite_schema
        WHERE type = 'trigger' AND name = 'boutiquedb_keep' AND tbl_name = 'boutiquedb_cdc')
    """

  /// Makes the trigger, if the log needs it.
  static func installKeepTrigger(on connection: Connection) throws {
    guard try connection.queryInt64("SELECT \(needsKeepTrigger)") != 0 else { return }
    try connection.executeScript(keepTriggerStatement)
  }

  /// Makes the log one that continues nothing.
  static func beginGeneration(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "UPDATE boutiquedb_meta SET value = lower(hex(randomblob(16))) WHERE key = 'generation'")
    // The numbers start again; what is kept under the former ones would seem to belong to new commits.
    try connection.execute("DELETE FROM boutiquedb_image")
    try connection.execute("DELETE FROM boutiquedb_session")
  }

  /// Notes that the log has had a row, with its first one.
  static func noteFirstRow(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "INSERT OR IGNORE INTO boutiquedb_meta (key, value) VALUES ('has_log', 1)")
  }

  /// Whether a log without rows has had some.
  static func hasLostItsRows(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.queryInt64("SELECT 1 FROM boutiquedb_meta WHERE key = 'has_log'") != nil
  }
}
