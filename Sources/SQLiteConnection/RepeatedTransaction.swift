/// The statements that begin and commit transactions, kept prepared for a connection that does little else.
package final class RepeatedTransaction {
  private let connection: Connection
  private let beginning: PreparedStatement
  private let commitment: PreparedStatement

  /// Prepares the statements.
  package init(on connection: Connection) throws(SQLiteError) {
    self.connection = connection
    beginning = try connection.prepare("BEGIN IMMEDIATE")
    commitment = try connection.prepare("COMMIT")
    beginning.reset()
    commitment.reset()
  }

  /// Begins, as `ImmediateTransaction.begin` does.
  package func begin() throws(SQLiteError) {
    do {
      try beginning.run()
    } catch {
      // An interruption can come when the transaction has just begun: it fails the statement and leaves
      // the transaction, with SQLite's write lock, to nobody.
      if error.code.primary == .interrupt { ImmediateTransaction.rollback(on: connection) }
      throw error
    }
  }

  /// Commits, as `ImmediateTransaction.commit` does.
  package func commit() throws(SQLiteError) { try commitment.run() }
}
