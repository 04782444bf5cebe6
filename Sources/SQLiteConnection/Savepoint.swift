/// Savepoints, by a name or by how deep they are nested.
package struct Savepoint {
  /// Begins a savepoint.
  package static func begin(_ name: String, on connection: Connection) throws(SQLiteError) {
    try connection.execute("SAVEPOINT \(quoted(name))")
  }

  /// Ends a savepoint and keeps its changes; outside a transaction this commits.
  package static func release(_ name: String, on connection: Connection) throws(SQLiteError) {
    try connection.execute("RELEASE \(quoted(name))")
  }

  /// Undoes a savepoint and ends it.
  ///
  /// `ROLLBACK TO` alone would leave it open, and with it a transaction that it began. When SQLite
  /// has rolled back the whole transaction there is nothing to do: ask `isInTransaction`. An error
  /// means that the changes are still there; roll back the transaction.
  package static func rollback(_ name: String, on connection: Connection) throws(SQLiteError) {
    guard connection.isInTransaction else { return }
    connection.resetBusyStatements()
    var result: Result<Void, SQLiteError> = .success(())
    connection.withoutProgressHandler {
      do throws(SQLiteError) {
        try connection.execute("ROLLBACK TO \(quoted(name))")
        try connection.execute("RELEASE \(quoted(name))")
      } catch {
        result = .failure(error)
      }
    }
    try result.get()
  }

  /// Begins the savepoint of a depth.
  package static func begin(depth: Int, on connection: Connection) throws(SQLiteError) {
    try begin(name(depth), on: connection)
  }

  /// Ends the savepoint of a depth and keeps its changes.
  package static func release(depth: Int, on connection: Connection) throws(SQLiteError) {
    try release(name(depth), on: connection)
  }

  /// Undoes the savepoint of a depth and ends it.
  package static func rollback(depth: Int, on connection: Connection) throws(SQLiteError) {
    try rollback(name(depth), on: connection)
  }

  private static func name(_ depth: Int) -> String { "boutique_\(depth)" }

  private static func quoted(_ name: String) -> String {
    "\"" + name.doubling("\"") + "\""
  }
}
