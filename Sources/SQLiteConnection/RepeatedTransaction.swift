/// The statements that begin and commit transactions, kept prepared for a connection that does little else.
package final class RepeatedTransaction {
  private let beginning: PreparedStatement
  private let commitment: PreparedStatement

  /// Prepares the statements.
  package init(on connection: Connection) throws(SQLiteError) {
    beginning = try connection.prepare("BEGIN IMMEDIATE")
    commitment = try connection.prepare("COMMIT")
    beginning.reset()
    commitment.reset()
  }

  /// Begins, as `ImmediateTransaction.begin` does.
  package func begin() throws(SQLiteError) { try beginning.run() }

  /// Commits, as `ImmediateTransaction.commit` does.
  package func commit() throws(SQLiteError) { try commitment.run() }
}
