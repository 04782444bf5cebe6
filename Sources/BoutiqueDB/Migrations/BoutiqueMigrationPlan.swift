/// The migrations of a program, oldest first.
///
/// ```swift
/// static let plan = BoutiqueMigrationPlan {
///   BoutiqueMigration("v1_create_notes") { conn in
///     try conn.execute("CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL)")
///   }
/// }
/// ```
public struct BoutiqueMigrationPlan: Sendable {
  /// The migrations, in the order in which they are applied.
  public let migrations: [BoutiqueMigration]

  /// Creates an empty plan, which accepts a database at any state.
  public init() { migrations = [] }

  /// Creates a plan from a list.
  public init(_ migrations: [BoutiqueMigration]) { self.migrations = migrations }

  /// Creates a plan from the migrations in a closure.
  public init(@BoutiqueMigrationBuilder _ migrations: () -> [BoutiqueMigration]) {
    self.migrations = migrations()
  }

  /// - Throws: ``BoutiqueError/invalidConfiguration(message:)`` for an empty or repeated name.
  func check() throws {
    var seen = Set<String>()
    for migration in migrations {
      guard !migration.id.isEmpty else {
        throw BoutiqueError.invalidConfiguration(message: "a migration has an empty name")
      }
      guard seen.insert(migration.id).inserted else {
        throw BoutiqueError.invalidConfiguration(
          message: "two migrations are named '\(migration.id)'")
      }
    }
  }
}

/// Collects migrations from a closure.
@resultBuilder
public enum BoutiqueMigrationBuilder {
  /// Takes one migration.
  public static func buildExpression(_ migration: BoutiqueMigration) -> [BoutiqueMigration] {
    [migration]
  }

  /// Takes a list of migrations.
  public static func buildExpression(_ migrations: [BoutiqueMigration]) -> [BoutiqueMigration] {
    migrations
  }

  /// Joins the parts of the closure.
  public static func buildBlock(_ parts: [BoutiqueMigration]...) -> [BoutiqueMigration] {
    parts.flatMap(\.self)
  }

  /// Takes the migrations of an `if` without `else`.
  public static func buildOptional(_ part: [BoutiqueMigration]?) -> [BoutiqueMigration] {
    part ?? []
  }

  /// Takes the migrations of the first branch.
  public static func buildEither(first part: [BoutiqueMigration]) -> [BoutiqueMigration] { part }

  /// Takes the migrations of the second branch.
  public static func buildEither(second part: [BoutiqueMigration]) -> [BoutiqueMigration] { part }

  /// Takes the migrations of a loop.
  public static func buildArray(_ parts: [[BoutiqueMigration]]) -> [BoutiqueMigration] {
    parts.flatMap(\.self)
  }
}
