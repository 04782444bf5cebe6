import BoutiqueDB
import Foundation

/// The table of an ``SQLiteStorageEngine``: its definition and its statements.
///
/// `sequence` is the place of a key in the order of all. A key keeps it, and `createdAt`, as long as it is there.
struct StorageTable: Sendable {
  /// The name.
  let name: String

  private var quoted: String { name.asSQLName }

  private static let columns: Set<String> = [
    "sequence", "key", "value", "createdAt", "updatedAt",
  ]

  // MARK: Making it

  /// Makes the table when it is missing, and gives one without an order its order.
  func prepare(in db: BoutiqueDB) async throws {
    let found = try await db.read { try self.columns($0) }
    guard !Self.columns.isSubset(of: found) else { return }
    try await db.alterSchema("table \(name) of a store") { connection in
      // Another process may have come first.
      let found = try self.columns(connection)
      if Self.columns.isSubset(of: found) { return }
      if found.isEmpty {
        try create(named: quoted, connection)
      } else if Self.columns.subtracting(["sequence"]) == found {
        try giveOrder(connection)
      } else {
        throw StoreError.unusableTable(
          path: db.path, table: name,
          message: "it has the columns \(found.sorted().joined(separator: ", "))")
      }
    }
  }

  private func columns(_ connection: BoutiqueConnection) throws -> Set<String> {
    Set(
      try connection.query("SELECT name FROM pragma_table_info(?)", name).map {
        try $0.decode(0, as: String.self)
      })
  }

  private func create(named name: String, _ connection: BoutiqueConnection) throws {
    try connection.execute(
      """
      CREATE TABLE \(name) (
        sequence INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL,
        createdAt REAL NOT NULL, updatedAt REAL NOT NULL)
      """)
  }

  /// Rebuilds a table as Boutique on Apple systems makes it: without an order, and with times as text.
  private func giveOrder(_ connection: BoutiqueConnection) throws {
    let fresh = (name + " with order").asSQLName
    func seconds(_ column: String) -> String {
      """
      coalesce(CASE typeof(\(column)) WHEN 'text' THEN (julianday(\(column)) - 2440587.5) * 86400.0 \
      ELSE \(column) END, unixepoch())
      """
    }
    try create(named: fresh, connection)
    try connection.execute(
      """
      INSERT INTO \(fresh) (key, value, createdAt, updatedAt)
        SELECT key, value, \(seconds("createdAt")), \(seconds("updatedAt")) FROM \(quoted) ORDER BY rowid
      """)
    try connection.execute("DROP TABLE \(quoted)")
    try connection.execute("ALTER TABLE \(fresh) RENAME TO \(quoted)")
  }

  // MARK: Writing

  /// Does things in order, in the transaction of the connection.
  func apply(_ operations: [StorageOperation], _ connection: BoutiqueConnection) throws {
    let now = Date().timeIntervalSince1970
    let write = try connection.prepare(
      """
      INSERT INTO \(quoted) (key, value, createdAt, updatedAt) VALUES (?1, ?2, ?3, ?3)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, updatedAt = excluded.updatedAt
      """)
    let remove = try connection.prepare("DELETE FROM \(quoted) WHERE key = ?")
    for operation in operations {
      switch operation {
      case .write(let key, let data): try write.run(key.rawValue, data, now)
      case .remove(let key): try remove.run(key.rawValue)
      case .removeAll: try connection.execute("DELETE FROM \(quoted)")
      }
    }
  }

  // MARK: Reading

  /// Returns what lies at some places; places where there is nothing are left out.
  func entries(at places: [Int64], _ connection: BoutiqueConnection) throws -> [StorageEntry] {
    let select = try connection.prepare(
      "SELECT sequence, key, value FROM \(quoted) WHERE sequence = ?")
    return try places.compactMap { place in
      try select.first(arguments: [place]).map { try entry($0) }
    }
  }

  /// Returns everything, in order.
  func allEntries(_ connection: BoutiqueConnection) throws -> [StorageEntry] {
    var entries: [StorageEntry] = []
    try connection.forEachRow("SELECT sequence, key, value FROM \(quoted) ORDER BY sequence") {
      entries.append(try entry($0))
    }
    return entries
  }

  /// Returns what lies under some keys, in their order.
  func entries(under keys: [CacheKey], _ connection: BoutiqueConnection) throws -> [StorageEntry] {
    // One look-up for each, so that no number of keys is too large for a statement.
    let select = try connection.prepare("SELECT sequence, key, value FROM \(quoted) WHERE key = ?")
    return try keys.compactMap { key in
      try select.first(arguments: [key.rawValue]).map { try entry($0) }
    }
  }

  private func entry(_ row: Row) throws -> StorageEntry {
    let data: Data
    // A text is what somebody wrote with a tool; JSON is text.
    switch row[2] {
    case .blob(let bytes): data = Data(bytes)
    case .text(let text): data = Data(text.utf8)
    default: data = try row.decode(2)
    }
    return StorageEntry(
      place: try row.decode(0), key: CacheKey(verbatim: try row.decode(1)), data: data)
  }

  /// Returns all keys, in order.
  func keys(_ connection: BoutiqueConnection) throws -> [CacheKey] {
    try connection.query("SELECT key FROM \(quoted) ORDER BY sequence").map {
      CacheKey(verbatim: try $0.decode(0))
    }
  }

  /// Returns those of the keys that are there.
  func existing(_ keys: [CacheKey], _ connection: BoutiqueConnection) throws -> [CacheKey] {
    let select = try connection.prepare("SELECT 1 FROM \(quoted) WHERE key = ?")
    return try keys.filter { try select.first(arguments: [$0.rawValue]) != nil }
  }

  /// Returns how many there are.
  func count(_ connection: BoutiqueConnection) throws -> Int {
    try connection.query("SELECT count(*) FROM \(quoted)")[0].decode(0)
  }

  /// Returns when a key was first and last written.
  func times(
    of key: CacheKey, _ connection: BoutiqueConnection
  ) throws -> (created: Date, updated: Date)? {
    let row = try connection.queryOne(
      "SELECT createdAt, updatedAt FROM \(quoted) WHERE key = ?", key.rawValue)
    return try row.map { row in
      (
        Date(timeIntervalSince1970: try row.decode(0)),
        Date(timeIntervalSince1970: try row.decode(1))
      )
    }
  }
}
