extension BoutiqueDB {
  /// Alters the schema in a transaction of its own, as a migration does, but outside any plan.
  ///
  /// For schemas that a program derives from its models, whenever it first uses them. What is there is
  /// looked up in the same transaction that alters it, so processes that do the same at the same moment
  /// do it once: let the closure look before it acts. Foreign keys are not enforced while it runs, so that
  /// tables can be rebuilt, and are checked before it is committed when anything was changed. A closure
  /// that finds nothing to do changes nothing, and nobody hears of it.
  ///
  /// - Parameters:
  ///   - id: what it is called in errors and by `boutique-locks`.
  ///   - body: runs on the database's writer thread, once.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``BoutiqueError/migrationFailed(id:message:)`` where it leaves a foreign
  ///   key that refers to nothing; ``BoutiqueError/lockTimeout(_:)`` after
  ///   ``BoutiqueConfiguration/migrationTimeout``; `CancellationError`.
  @discardableResult
  public func alterSchema<R: Sendable>(
    _ id: String, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> R
  ) async throws -> R {
    let result = try await core.alterSchema(id, body)
    await core.hub.settle(isolation: isolation)
    return result
  }
}
