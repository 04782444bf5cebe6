import BoutiqueDB

// The rows of stored values.
//
//   stored_value   key                      value, JSON as text that people and `sqlite3` can read
//   stored_secret  service, scope, key      sealed, see Envelope.swift
//
// They can lie in a settings database of their own or in a program's. They are made by the first write,
// not by a migration, so that a program's migrations stay its own. Without row ids, so that the change
// feed names the keys.
enum SettingsTables {
  static let value = "stored_value"
  static let secret = "stored_secret"

  /// Makes the tables where they are missing.
  static func make(on connection: BoutiqueConnection) throws {
    let present = try self.present(on: connection)
    if !present.contains(value) {
      try connection.execute(
        """
        CREATE TABLE stored_value (
          key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
    }
    if !present.contains(secret) {
      try connection.execute(
        """
        CREATE TABLE stored_secret (
          service TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, sealed BLOB NOT NULL,
          PRIMARY KEY (service, scope, key)
        ) STRICT, WITHOUT ROWID
        """)
    }
  }

  private static func present(on connection: BoutiqueConnection) throws -> Set<String> {
    let rows = try connection.query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?)", value, secret)
    return Set(try rows.map { try $0.decode(0, as: String.self) })
  }

  /// Returns every row.
  static func readAll(on connection: BoutiqueConnection) throws -> [SettingRow: SQLValue] {
    let present = try present(on: connection)
    var all: [SettingRow: SQLValue] = [:]
    if present.contains(value) {
      for row in try connection.query("SELECT key, value FROM stored_value") {
        all[.value(key: try row.decode(0))] = row[1]
      }
    }
    if present.contains(secret) {
      for row in try connection.query("SELECT service, scope, key, sealed FROM stored_secret") {
        let (service, group, key): (String, String, String) =
          (try row.decode(0), try row.decode(1), try row.decode(2))
        all[.secret(service: service, group: group, key: key)] = row[3]
      }
    }
    return all
  }

  /// Returns some rows; the ones that are not there are missing.
  static func read(
    _ wanted: Set<SettingRow>, on connection: BoutiqueConnection
  ) throws -> [SettingRow: SQLValue] {
    let present = try present(on: connection)
    var found: [SettingRow: SQLValue] = [:]
    for row in wanted where present.contains(row.table) {
      found[row] = try read(row, on: connection)
    }
    return found
  }

  /// Returns one row's value; the table must be there.
  static func read(_ row: SettingRow, on connection: BoutiqueConnection) throws -> SQLValue? {
    switch row {
    case .value(let key):
      try connection.queryOne("SELECT value FROM stored_value WHERE key = ?", key)?[0]
    case .secret(let service, let group, let key):
      try connection.queryOne(
        "SELECT sealed FROM stored_secret WHERE service = ? AND scope = ? AND key = ?",
        service, group, key)?[0]
    }
  }

  /// Writes or deletes one row; the table must be there.
  static func write(
    _ stored: SQLValue?, to row: SettingRow, on connection: BoutiqueConnection
  ) throws {
    switch (row, stored) {
    case (.value(let key), let stored?):
      try connection.execute(
        """
        INSERT INTO stored_value (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """, key, stored)
    case (.value(let key), nil):
      try connection.execute("DELETE FROM stored_value WHERE key = ?", key)
    case (.secret(let service, let group, let key), let stored?):
      try connection.execute(
        """
        INSERT INTO stored_secret (service, scope, key, sealed) VALUES (?, ?, ?, ?)
        ON CONFLICT (service, scope, key) DO UPDATE SET sealed = excluded.sealed
        """, service, group, key, stored)
    case (.secret(let service, let group, let key), nil):
      try connection.execute(
        "DELETE FROM stored_secret WHERE service = ? AND scope = ? AND key = ?",
        service, group, key)
    }
  }

  /// Returns the rows that a commit changed; nil when any may have changed.
  static func rows(in change: BoutiqueChange) -> Set<SettingRow>? {
    if change.isEverything { return nil }
    // Where the tables are made or dropped their rows are not told.
    if !change.wholeTables.isDisjoint(with: [value, secret, "sqlite_schema"]) { return nil }
    var rows: Set<SettingRow> = []
    for row in change.rows where row.table == value || row.table == secret {
      guard let named = SettingRow(table: row.table, key: row.key) else { return nil }
      rows.insert(named)
    }
    return rows
  }
}

extension SettingRow {
  var table: String {
    switch self {
    case .value: SettingsTables.value
    case .secret: SettingsTables.secret
    }
  }

  init?(table: String, key: [SQLValue]) {
    let names = key.compactMap { part -> String? in
      guard case .text(let name) = part else { return nil }
      return name
    }
    switch (table, names.count) {
    case (SettingsTables.value, 1): self = .value(key: names[0])
    case (SettingsTables.secret, 3):
      self = .secret(service: names[0], group: names[1], key: names[2])
    default: return nil
    }
  }
}
