import SQLiteConnection

/// Which tables keep more of a changed row than its key, as the database says for every process alike.
///
/// Kept in the table `boutiquedb_capture`, which each process reads again when somebody else has committed.
/// A mode belongs to a name, in either letter case, and not to a table: it waits for a table that is not
/// made yet, and stays when a migration rebuilds the table under the same name.
struct CaptureModes: Equatable {
  private var byName: [ByteExactString: CaptureMode] = [:]

  /// The modes of a database in which nobody has set one.
  init() {}

  /// Reads the modes; none from a database without the table.
  init(on connection: Connection) throws(SQLiteError) {
    for (name, mode) in try Self.entries(on: connection) { byName[Self.key(name)] = mode }
  }

  subscript(table: String) -> CaptureMode {
    // Nearly always there is none.
    byName.isEmpty ? .id : byName[Self.key(table)] ?? .id
  }

  /// SQLite compares names without regard to the case of ASCII letters.
  private static func key(_ name: String) -> ByteExactString {
    ByteExactString(
      String(
        decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self))
  }

  /// What the table holds, by name.
  static func entries(
    on connection: Connection
  ) throws(SQLiteError) -> [(name: String, mode: CaptureMode)] {
    var entries: [(String, CaptureMode)] = []
    do throws(SQLiteError) {
      let select = try connection.prepare(
        "SELECT table_name, mode FROM boutiquedb_capture ORDER BY table_name")
      defer { select.reset() }
      while try select.step() {
        // A word that this version does not know asks for more than the key; of what, it cannot tell.
        entries.append((select.text(0), CaptureMode(rawValue: select.text(1)) ?? .full))
      }
    } catch {
      guard error.code.primary == .error else { throw error }
    }
    return entries
  }

  /// Whether a database has these modes already.
  static func agree(with wanted: [String: CaptureMode], on connection: Connection) throws -> Bool {
    let modes = try CaptureModes(on: connection)
    return wanted.allSatisfy { modes[$0.key] == $0.value }
  }

  /// Sets the mode of one table, inside a write transaction.
  static func set(_ mode: CaptureMode, forTable name: String, on connection: Connection) throws {
    try check(name)
    let delete = try connection.prepare(
      "DELETE FROM boutiquedb_capture WHERE table_name = ?1 COLLATE NOCASE")
    defer { delete.reset() }
    try delete.bind(name, at: 1)
    try delete.run()
    guard mode != .id else { return }
    let insert = try connection.prepare(
      "INSERT INTO boutiquedb_capture (table_name, mode) VALUES (?1, ?2)")
    defer { insert.reset() }
    try insert.bind(name, at: 1)
    try insert.bind(mode.rawValue, at: 2)
    try insert.run()
  }

  /// Throws for a name that no table of the user's can have.
  static func check(_ name: String) throws {
    let key = key(name).string
    guard !name.isEmpty, !name.utf8.contains(0), !CaptureSchema.internalTables.contains(key) else {
      throw BoutiqueError.invalidConfiguration(
        message: name.isEmpty
          ? "a capture mode needs the name of a table"
          : "no capture mode can be set for '\(name)': it is kept by the library")
    }
  }
}

extension BoutiqueDB {
  /// Sets what the change log keeps of changed rows of a table, from now on and in every process.
  ///
  /// Other processes go by it from their next write. The table need not exist yet. The mode belongs to the
  /// name: it outlives a table that is dropped and made again, and does not follow one that is renamed.
  ///
  /// - Throws: ``BoutiqueError/invalidConfiguration(message:)`` for a table of the library's own.
  public func setCaptureMode(_ mode: CaptureMode, forTable table: String) async throws {
    try CaptureModes.check(table)
    let hub = core.hub
    try await core.maintain(purpose: "capture mode") { writer in
      guard try !CaptureModes.agree(with: [table: mode], on: writer.sqlite) else { return }
      let change = try writer.committing(since: .now(), isOwnWork: true) { connection in
        try CaptureModes.set(mode, forTable: table, on: connection.sqlite)
      }
      if let change { hub.publish(change) }
    }
  }

  /// Returns what the change log keeps of changed rows, by table.
  ///
  /// Tables that are not listed keep the key only, ``CaptureMode/id``.
  public func captureModes() async throws -> [String: CaptureMode] {
    try await core.read { connection in
      let entries = try CaptureModes.entries(on: connection.sqlite)
      return Dictionary(entries.map { ($0.name, $0.mode) }) { _, last in last }
    }
  }
}
