extension BoutiqueDB {
  /// Runs a closure as ``read(_:)`` does, and says which commit was the newest it could see.
  ///
  /// Nothing lies between the snapshot and the feed that goes on from its token:
  ///
  /// ```swift
  /// let (jobs, token) = try await db.readWithToken { try Job.all.fetchAll($0) }
  /// for try await change in db.changes(since: token) { … }
  /// ```
  ///
  /// - Returns: what `body` returns, and the token of the newest commit that its snapshot holds.
  /// - Throws: what `body` throws, ``BoutiqueError``, or `CancellationError`.
  public func readWithToken<R: Sendable>(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> (value: R, token: ChangeToken) {
    let core = core
    let (value, position) = try await core.read { connection in
      // Before the first statement, and so before the snapshot is taken.
      let presence = core.presence(on: connection.sqlite)
      let position = try ChangeReader.head(
        continuity: presence.continuity, on: connection.sqlite)
      return (try body(connection), position)
    }
    return (value, ChangeToken(position))
  }
}
