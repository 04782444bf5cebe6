import BoutiqueDB

extension Blackbird.Database.Core {
  /// Runs a part of the transaction that can be undone by itself.
  ///
  /// Where `action` throws, what it changed is undone, the error is thrown, and the transaction goes on if
  /// the error is caught.
  ///
  /// - Returns: what `action` returns.
  @discardableResult
  public func transaction<R>(
    _ action: (isolated Blackbird.Database.Core) throws -> R
  ) throws -> R {
    let mark = undo.mark
    do {
      return try Blackbird.Database.Error.translating {
        try connection().savepoint { try action(self) }
      }
    } catch {
      undo.rollBack(to: mark)
      forgetChecks()
      throw error
    }
  }

  /// Runs a part of the transaction that can be undone by throwing
  /// ``Blackbird/Error/cancelTransaction``.
  ///
  /// - Returns: whether it was kept, with what `action` returned.
  /// - Throws: any other error of `action`, after undoing the part.
  @discardableResult
  public func cancellableTransaction<R: Sendable>(
    _ action: (isolated Blackbird.Database.Core) throws -> R
  ) throws -> Blackbird.TransactionResult<R> {
    do {
      return .committed(try transaction(action))
    } catch Blackbird.Error.cancelTransaction {
      return .rolledBack
    }
  }
}
