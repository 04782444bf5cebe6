/// One named step of a database's schema.
///
/// A migration that has been released is never changed, renamed, moved or removed; a new step is
/// appended.
public struct BoutiqueMigration: Sendable {
  /// The name under which the database remembers it.
  public let id: String
  let body: @Sendable (BoutiqueConnection) throws -> Void

  /// Creates a migration.
  ///
  /// - Parameters:
  ///   - id: a name that is unique in the plan and stays the same for ever.
  ///   - body: runs once for each database, in a transaction of its own. Foreign keys are not enforced
  ///     while it runs, and checked before it is committed.
  public init(_ id: String, _ body: @escaping @Sendable (BoutiqueConnection) throws -> Void) {
    self.id = id
    self.body = body
  }
}
