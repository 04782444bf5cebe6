import BoutiqueDB

extension Blackbird.Database {
  /// Runs a closure in one transaction and commits it.
  ///
  /// All processes see everything it did, or nothing. When the closure throws, everything is undone; by the
  /// time the error arrives the connection is in no transaction, and any process can write.
  ///
  /// - Parameter action: runs in one piece on the database's own thread; its calls need no `await`, and it
  ///   cannot contain one: no transaction stays open while a task is suspended.
  /// - Returns: what `action` returns.
  /// - Throws: what `action` throws, ``Error``, or `CancellationError`.
  @discardableResult
  public func transaction<R: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    try await waitArtificially()
    return try await write(action)
  }

  /// Runs a closure in one transaction, which it can undo by throwing
  /// ``Blackbird/Error/cancelTransaction``.
  ///
  /// - Returns: whether it was committed, with what `action` returned.
  /// - Throws: any other error of `action`, after undoing everything; ``Error``, or `CancellationError`.
  @discardableResult
  public func cancellableTransaction<R: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> Blackbird.TransactionResult<R> {
    do {
      return .committed(try await transaction(action))
    } catch Blackbird.Error.cancelTransaction {
      return .rolledBack
    }
  }

  /// Runs a closure on the writer, in one transaction.
  ///
  /// Every write of the library goes through here.
  func write<R: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    try await transact(action) { engine, body in try await engine.write(body) }
  }

  /// Runs a closure as ``write(_:)`` does, and says which commit holds it.
  func writeWithToken<R: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> (value: R, token: ChangeToken) {
    try await transact(action) { engine, body in try await engine.writeWithToken(body) }
  }

  private func transact<R: Sendable, Outcome: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R,
    _ run: (BoutiqueDB, @escaping @Sendable (BoutiqueConnection) throws -> R) async throws ->
      Outcome
  ) async throws -> Outcome {
    let engine = try await engine()
    let searched = searchedTables
    let undo = TransactionUndo(database: id)
    do {
      return try await Error.translating {
        try await run(engine) { connection in
          let result = try Core.run(on: connection, of: self, undo: undo, action)
          try searched.settle(on: connection)
          return result
        }
      }
    } catch {
      undo.rollBack()
      throw error
    }
  }

  /// Runs a closure on a reader, in one snapshot; writing there throws.
  func read<R: Sendable>(
    _ action: @escaping @Sendable (_ core: isolated Core) throws -> R
  ) async throws -> R {
    let engine = try await engine()
    return try await Error.translating {
      try await engine.read { connection in
        try Core.run(on: connection, of: self, action)
      }
    }
  }
}
