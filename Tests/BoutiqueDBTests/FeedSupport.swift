import BoutiqueDB
import Glibc
import SQLiteConnection
import Synchronization
import TestDatabase

/// What the tests of the change feed share.
enum FeedSupport {
  static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("t") {
      try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    }
  }

  static func insert(_ ids: ClosedRange<Int>, into db: BoutiqueDB) async throws {
    for id in ids { try await db.write { _ = try $0.execute("INSERT INTO t (id) VALUES (?)", id) } }
  }

  /// Waits for a lock as long as a busy machine may take.
  @Sendable static func patience(_ tries: Int) -> Bool {
    usleep(1000)  // SQLite's locks wake nobody
    return tries < 30_000
  }

  /// Runs statements as a program without this library does.
  static func foreign(_ path: String, _ statements: String...) throws {
    let connection = try Connection(path: path)
    defer { connection.close() }
    connection.setBusyHandler(FeedSupport.patience)
    for statement in statements { try connection.execute(statement) }
  }

  /// Says in one word what a change is: the key of its first row, or "everything".
  static func word(_ change: BoutiqueChange?) -> String {
    guard let change else { return "end" }
    if change.isEverything { return "everything" }
    guard case .integer(let id)? = change.rows.first?.key.first else { return "other" }
    return "\(id)"
  }

  /// Reads a feed up to the present.
  static func words(_ db: BoutiqueDB, since token: ChangeToken?) async throws -> [String] {
    var words: [String] = []
    for try await change in db.changes(since: token, following: false) {
      words.append(word(change))
    }
    return words
  }

  /// Reads what a durable consumer has not acknowledged, and acknowledges the last of it.
  static func consume(
    _ db: BoutiqueDB, _ name: String, since token: ChangeToken? = nil, acknowledges: Bool = true
  ) async throws -> [String] {
    var words: [String] = []
    for try await change in db.changes(since: token, consumer: name, following: false) {
      words.append(word(change.change))
      if acknowledges { try await change.acknowledge() }
    }
    return words
  }
}

/// Events that were told, from any thread.
final class ToldEvents: Sendable {
  private let events = Mutex<[BoutiqueEvent]>([])

  var all: [BoutiqueEvent] { events.withLock { $0 } }

  var handler: @Sendable (BoutiqueEvent) -> Void {
    { event in self.events.withLock { $0.append(event) } }
  }
}
