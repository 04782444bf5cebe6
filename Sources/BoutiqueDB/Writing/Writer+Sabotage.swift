import FaultPoints
import SQLiteConnection
import StructuredQueries

// What ``Sabotage/noLease`` does in place of the lease; never called but for the trial of checks.

#if FAULT_POINTS
  extension Writer {
    /// Gives a closure whose transaction SQLite refuses another one.
    func beginAnew() throws {
      try sqlite.execute("ROLLBACK")
      try ImmediateTransaction.begin(on: sqlite)
      try log.begin()
      collector.reset()
    }
  }

  extension BoutiqueConnection {
    /// Runs a statement, once more in a new transaction where others have committed since this one has read.
    func executeDespiteConflict(
      _ sql: String, _ arguments: [(any QueryBindable)?]
    ) throws -> Int {
      do {
        return try prepare(sql).run(arguments: arguments)
      } catch BoutiqueError.sql(let code, _)
        where ResultCode(rawValue: Int32(code)).primary == .busy && goOnAfterConflict != nil
      {
        try goOnAfterConflict?()
        return try prepare(sql).run(arguments: arguments)
      }
    }
  }
#endif
