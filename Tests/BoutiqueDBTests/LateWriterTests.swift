import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// The connection that writes is opened when it is needed.
@Suite struct LateWriterTests {
  private static let plan = BoutiqueMigrationPlan([MigrationTests.create("a")])

  /// Makes a database with everything in it, and returns its path.
  private func finished(in directory: TestDirectory) async throws -> String {
    let path = directory.file("late.db")
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try await db.write { _ = try $0.execute("INSERT INTO a VALUES (1)") }
    await db.close()
    return path
  }

  /// How many connections of this process have a file open.
  private func connections(to path: String) throws -> Int {
    let descriptors = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: descriptors).count {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: descriptors + "/" + $0)
      return target == path
    }
  }

  @Test func `a finished database is opened and read with one connection`() async throws {
    let directory = try TestDirectory()
    let path = try await finished(in: directory)
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    #expect(try connections(to: path) == 1)
    #expect(try await db.count(of: "SELECT * FROM a") == 1)
    #expect(db.commitMark != nil)
    #expect(try connections(to: path) == 1)
    try await db.write { _ = try $0.execute("INSERT INTO a VALUES (2)") }
    #expect(try connections(to: path) == 2)
    #expect(try await db.count(of: "SELECT * FROM a") == 2)
    await db.close()
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }

  @Test func `closing moves the log into the database though nobody has written`() async throws {
    let directory = try TestDirectory()
    let path = try await finished(in: directory)
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    #expect(try await db.count(of: "SELECT * FROM a") == 1)
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    await db.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }

  @Test func `a first write after a newer program's migration is refused`() async throws {
    let directory = try TestDirectory()
    let path = try await finished(in: directory)
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    let newer = try await BoutiqueDB.open(
      path: path,
      migrations: BoutiqueMigrationPlan(["a", "b"].map(MigrationTests.create)))
    for _ in 0..<2 {
      await #expect {
        try await db.write { _ = try $0.execute("INSERT INTO a VALUES (2)") }
      } throws: {
        if case BoutiqueError.databaseNewer = $0 { true } else { false }
      }
    }
    #expect(try await db.count(of: "SELECT * FROM a") == 1)
    await newer.close()
    await db.close()
    // It was the last, and has closed as any other.
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }

  @Test func `what is missing is made before opening returns`() async throws {
    let directory = try TestDirectory()
    let path = try await finished(in: directory)
    var configuration = BoutiqueConfiguration()
    configuration.captureModes = ["a": .full]
    let db = try await BoutiqueDB.open(
      path: path, configuration: configuration,
      migrations: BoutiqueMigrationPlan(["a", "b"].map(MigrationTests.create)))
    #expect(try await db.status().migrations == ["create_a", "create_b"])
    #expect(
      try await db.read { try $0.query("SELECT mode FROM boutiquedb_capture").count } == 1)
    await db.close()
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }

  @Test func `a first write into a file that is gone is refused`() async throws {
    let directory = try TestDirectory()
    let path = try await finished(in: directory)
    let db = try await BoutiqueDB.open(path: path, migrations: Self.plan)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    await #expect {
      try await db.write { _ = try $0.execute("INSERT INTO a VALUES (2)") }
    } throws: {
      if case BoutiqueError.fileReplaced = $0 { true } else { false }
    }
    await db.close()
    try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  }
}
