import Boutique
import TestDatabase
import Testing

/// What `import Boutique` brings along of the engine; for Blackbird, its page is compiled so.
@Suite struct OneImport {
  @Test func `one import gives a database for settings`() async throws {
    let directory = try TestDirectory()
    var configuration = BoutiqueConfiguration()
    configuration.label = "one"
    let db = try await BoutiqueDB.open(
      path: directory.file("app.db"), configuration: configuration)
    let storage = SettingsStorage.database(db)
    try await storage.synchronize()
    await db.close()
    await #expect(throws: BoutiqueError.self) {
      try await SQLiteStorageEngine(database: db).readAllData()
    }
  }
}
