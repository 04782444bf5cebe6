/// The savepoint of one part of a transaction that several independent parts share.
///
/// Its statements stay prepared, since a part that is one small statement must not cost much more.
/// One at a time; savepoints inside it are other ones.
package final class MemberSavepoint {
  private let connection: Connection
  private let savepoint: PreparedStatement
  private let release: PreparedStatement
  private let rollback: PreparedStatement

  /// Prepares the statements.
  package init(on connection: Connection) throws(SQLiteError) {
    self.connection = connection
    savepoint = try connection.prepare("SAVEPOINT boutiquedb_member")
    release = try connection.prepare("RELEASE boutiquedb_member")
    rollback = try connection.prepare("ROLLBACK TO boutiquedb_member")
    for statement in [savepoint, release, rollback] { statement.reset() }
  }

  /// Begins the part.
  package func begin() throws(SQLiteError) { try savepoint.run() }

  /// Ends the part and keeps its changes.
  package func keep() throws(SQLiteError) { try release.run() }

  /// Undoes the part and ends it.
  ///
  /// An error means that its changes are still there: roll back the whole transaction.
  package func undo() throws(SQLiteError) {
    connection.resetBusyStatements()
    var result: Result<Void, SQLiteError> = .success(())
    connection.withoutProgressHandler {
      do throws(SQLiteError) {
        try rollback.run()
        try release.run()
      } catch {
        result = .failure(error)
      }
    }
    try result.get()
  }
}
