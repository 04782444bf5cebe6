import Boutique
import BoutiqueDB
import FaultPoints
import Foundation
import Synchronization

/// Does one of each of the library's doings, and says which fault points each came to.
///
/// A program of its own, since fault points belong to the process: beside tests that use the library they would
/// be reached all the time.
package enum PointProbe {
  /// The first argument of the hidden role.
  package static let option = "--point-probe"

  private static let reached = Mutex<Set<FaultPoint>>([])

  /// Runs the program on a directory; a line for each doing: its name, and the points.
  package static func run(directory: String) async -> Int32 {
    FaultPoint.install { point in reached.withLock { _ = $0.insert(point) } }
    do {
      try await doEverything(directory)
      return 0
    } catch {
      print("error \(error)")
      return 1
    }
  }

  private static func say(_ doing: String, _ body: () async throws -> Void) async throws {
    reached.withLock { $0 = [] }
    try await body()
    let points = reached.withLock { $0 }.map(\.rawValue).sorted()
    print(doing, points.joined(separator: " "))
    fflush(nil)
  }

  private static func doEverything(_ directory: String) async throws {
    var configuration = BoutiqueConfiguration()
    configuration.cdcRetention = .init(rows: 2, age: .seconds(3600))
    configuration.foreignCapture = .precise
    let path = directory + "/points.db"
    let plan = BoutiqueMigrationPlan([
      BoutiqueMigration("first") { try $0.execute("CREATE TABLE things (id INTEGER PRIMARY KEY)") }
    ])
    var opened: BoutiqueDB?
    try await say("open") {
      opened = try await BoutiqueDB.open(
        path: path, configuration: configuration, migrations: plan)
    }
    guard let db = opened else { return }
    try await say("write") {
      try await add(to: db)
      // The lease is given back a little after the write has returned.
      while !(reached.withLock { $0.contains(.duringRelease) }) {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    try await say("checkpoint") { _ = try await db.checkpoint(.passive) }
    try await say("prune") { for _ in 0..<100 { try await add(to: db) } }
    try await say("adopt") {
      try shell(path, "INSERT INTO things DEFAULT VALUES")
      try await add(to: db)
    }
    try await say("acknowledge") {
      let token = try await db.currentToken()
      try await add(to: db)
      var feed = db.changes(since: token, consumer: "probe").makeAsyncIterator()
      try await feed.next()?.acknowledge()
    }
    await db.close()
    try await say("rotate") { try await rotate(directory) }
  }

  private static func add(to db: BoutiqueDB) async throws {
    try await db.write { try $0.execute("INSERT INTO things DEFAULT VALUES") }
  }

  private static func shell(_ path: String, _ sql: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, sql]
    try process.run()
    process.waitUntilExit()
  }

  @MainActor
  private static func rotate(_ directory: String) async throws {
    let storage = SettingsStorage.path(
      directory + "/settings.db", key: .file(directory + "/keys/settings.key"))
    let token = SecurelyStoredValue<String>(key: "token", storage: storage)
    try await token.set("x").committed()
    try await storage.rotateKey()
  }
}
