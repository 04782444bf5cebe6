public import BoutiqueDB
import Foundation

/// Opens a database in a directory of its own, runs a test, closes, and checks what must hold after every
/// test: the file is whole, and nothing of it is left locked or open in this process.
public func withTestDatabase(
  configuration: BoutiqueConfiguration = BoutiqueConfiguration(),
  migrations: BoutiqueMigrationPlan = BoutiqueMigrationPlan(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (BoutiqueDB, TestDirectory) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  let path = directory.file("test.db")
  let db = try await BoutiqueDB.open(
    path: path, configuration: configuration, migrations: migrations)
  do {
    try await body(db, directory)
  } catch {
    await db.close()
    throw error
  }
  await db.close()
  try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  try await TestDatabaseCheck.isWhole(path: path)
}

extension BoutiqueDB {
  /// Returns how many rows a query has.
  public func count(of sql: String) async throws -> Int {
    try await read { try $0.query(sql).count }
  }
}

/// What must hold when a database has been closed.
public enum TestDatabaseCheck {
  /// A check that failed.
  public struct Failure: Error, CustomStringConvertible {
    /// What was found.
    public let description: String
  }

  /// Throws when this process has a file of the directory open.
  public static func nothingIsLeftOpen(in directory: String) throws {
    let descriptors = "/proc/self/fd"
    for name in try FileManager.default.contentsOfDirectory(atPath: descriptors) {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: descriptors + "/" + name)
      if let target, target.hasPrefix(directory) {
        throw Failure(description: "descriptor \(name) still names \(target)")
      }
    }
  }

  /// Throws when SQLite finds the file damaged.
  public static func isWhole(path: String) async throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    var configuration = BoutiqueConfiguration()
    configuration.multiProcess = false
    let db = try await BoutiqueDB.open(path: path, configuration: configuration)
    let problems = try await db.integrityCheck()
    await db.close()
    if !problems.isEmpty { throw Failure(description: problems.joined(separator: "\n")) }
  }
}
