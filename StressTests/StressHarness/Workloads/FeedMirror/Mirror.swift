import BoutiqueDB
import StressFaults
import StressHistory
import StressReport
import Synchronization

/// A copy of the table `item` in a database of its own, with the place in the feed up to which it is one.
///
/// Both change in one transaction: killed before its commit, the process gets the change again and applies it;
/// killed after it, it gets the change again and knows it by its token.
final class Mirror: Sendable {
  struct Item: Hashable, CustomStringConvertible {
    var id: Int64
    var value: Int64
    var version: Int64

    var description: String { "item \(id): \(value) (version \(version))" }
  }

  /// What one change is checked and applied against.
  private struct Position: Sendable {
    var token: Int64
    var tick: Int64
    /// Up to which tick a copy of the whole table has everything already.
    var copied: Int64
  }

  private let db: BoutiqueDB
  private let run: RunContext
  private let name: String
  private let newest = Atomic<Int64>(0)

  private init(_ db: BoutiqueDB, _ run: RunContext, _ name: String) {
    self.db = db
    self.run = run
    self.name = name
  }

  static func consumer(_ place: Int) -> String { "mirror-\(place)" }

  /// Whether no fault of the plan takes from anybody the proof that no other program has committed.
  static func isPlain(_ faults: [FaultKind]) -> Bool {
    Set(faults).isSubset(of: [.kill, .killAtPoint, .pause, .slowDisk, .clockStep])
  }

  static func open(_ run: RunContext, _ place: Int) async throws -> Mirror {
    let db = try await BoutiqueDB.open(
      path: "\(run.directory)/data/mirror-\(place).db",
      configuration: run.configuration(label: consumer(place)),
      migrations: BoutiqueMigrationPlan {
        BoutiqueMigration("mirror") { connection in
          try connection.executeScript(
            """
            CREATE TABLE item (
              id INTEGER PRIMARY KEY, value INTEGER NOT NULL, version INTEGER NOT NULL);
            CREATE TABLE position (id INTEGER PRIMARY KEY, token INTEGER NOT NULL,
              tick INTEGER NOT NULL, copied INTEGER NOT NULL);
            INSERT INTO position VALUES (1, 0, 0, 0);
            """)
        }
      })
    let mirror = Mirror(db, run, consumer(place))
    mirror.newest.store(try await db.read(position).tick, ordering: .relaxed)
    return mirror
  }

  func close() async { await db.close() }

  /// Up to which tick the mirror has everything.
  var tick: Int64 { newest.load(ordering: .relaxed) }

  func items() async throws -> [Item] { try await db.read(Self.items) }

  static func items(_ connection: BoutiqueConnection) throws -> [Item] {
    try connection.query("SELECT id, value, version FROM item ORDER BY id").map { row in
      Item(
        id: try row.decode(0, as: Int64.self), value: try row.decode(1, as: Int64.self),
        version: try row.decode(2, as: Int64.self))
    }
  }

  private static func position(_ connection: BoutiqueConnection) throws -> Position {
    guard let row = try connection.queryOne("SELECT token, tick, copied FROM position") else {
      return Position(token: 0, tick: 0, copied: 0)
    }
    return Position(
      token: try row.decode(0, as: Int64.self), tick: try row.decode(1, as: Int64.self),
      copied: try row.decode(2, as: Int64.self))
  }

  /// Applies a change, unless it has been.
  ///
  /// - Parameters:
  ///   - source: the database that it is of.
  ///   - isStrict: whether to judge a change of everything by how far behind the mirror is.
  /// - Returns: what is wrong with it.
  func apply(
    _ change: BoutiqueChange, of source: BoutiqueDB, isStrict: Bool
  ) async throws -> [Violation] {
    let isWhole = change.isEverything || !change.wholeTables.isDisjoint(with: ["item", "tick"])
    let result: (Position, [Violation])
    if isWhole {
      result = try await copy(change, of: source, isStrict: isStrict)
    } else {
      let name = name
      result = try await db.write { connection in
        try Self.replay(change, name, on: connection)
      }
    }
    newest.store(result.0.tick, ordering: .relaxed)
    return result.1
  }

  // MARK: Everything

  private func copy(
    _ change: BoutiqueChange, of source: BoutiqueDB, isStrict: Bool
  ) async throws -> (Position, [Violation]) {
    let (items, tick) = try await source.read { connection in
      let row = try connection.queryOne("SELECT value FROM tick")
      return (try Self.items(connection), try row?.decode("value", as: Int64.self) ?? 0)
    }
    let before = try await db.read(Self.position)
    // A token of everything may be one that was there before; then it is no repetition.
    let position = Position(
      token: max(before.token, change.token.number), tick: tick, copied: tick)
    try await db.write { connection in
      try connection.execute("DELETE FROM item")
      for item in items {
        try connection.execute(
          "INSERT INTO item VALUES (?, ?, ?)", item.id, item.value, item.version)
      }
      try Self.put(position, on: connection)
    }
    // For each tick there is a record, and at most one more for each consumer that acknowledges in between.
    let records = (tick - before.tick) * Int64(run.plan.processes + 2) + 64
    guard isStrict, Self.isPlain(run.plan.faults), before.tick > 0 || name != Self.consumer(0),
      records < Int64(FeedMirrorWorkload.hardRows)
    else { return (position, []) }
    return (
      position,
      [
        Violation(
          check: "pruned too early",
          text: "\(name) was told that everything may have changed after tick \(before.tick), when "
            + "the newest was \(tick): its records are to be kept until there are "
            + "\(FeedMirrorWorkload.hardRows) of them")
      ]
    )
  }

  private static func put(_ position: Position, on connection: BoutiqueConnection) throws {
    try connection.execute(
      "UPDATE position SET token = ?, tick = ?, copied = ?", position.token, position.tick,
      position.copied)
  }

  // MARK: One commit

  private static func replay(
    _ change: BoutiqueChange, _ name: String, on connection: BoutiqueConnection
  ) throws -> (Position, [Violation]) {
    var position = try self.position(connection)
    guard change.token.number > position.token else { return (position, []) }
    var violations: [Violation] = []
    var isKnown = false
    func complain(_ check: String, _ text: String) {
      if violations.isEmpty {
        violations.append(
          Violation(check: check, text: "\(name), token \(change.token.number): \(text)"))
      }
    }
    // Writes that share a commit come one after the other, each with its tick first.
    for row in change.rows {
      if row.table == "tick" {
        guard row.kind == .update, let tick = integer(row.after, "value") else { continue }
        isKnown = tick <= position.copied
        if isKnown { continue }
        if tick <= position.tick {
          complain("repeated change", "tick \(tick) came after tick \(position.tick)")
        } else if tick > position.tick + 1 {
          complain("missed change", "tick \(tick) came after tick \(position.tick)")
        }
        position.tick = tick
      } else if row.table == "item", !isKnown {
        if let text = try replay(row, on: connection) { complain("out of order", text) }
      }
    }
    position.token = change.token.number
    try put(position, on: connection)
    return (position, violations)
  }

  /// - Returns: why the row cannot have changed so after what the mirror has; nil where it can.
  private static func replay(
    _ row: RowChange, on connection: BoutiqueConnection
  ) throws -> String? {
    guard case .integer(let id)? = row.key.first else { return "a row without a number" }
    let known = try connection.queryOne("SELECT version FROM item WHERE id = ?", id)
    let version = try known?.decode("version", as: Int64.self)
    let before = integer(row.before, "version")
    let text =
      version == before
      ? nil
      : "\(row.kind.rawValue) of item \(id) at version \(before.map { "\($0)" } ?? "none"), and "
        + "the mirror has \(version.map { "\($0)" } ?? "none")"
    switch row.kind {
    case .delete: try connection.execute("DELETE FROM item WHERE id = ?", id)
    case .insert, .update:
      guard let value = integer(row.after, "value"), let version = integer(row.after, "version")
      else { return "\(row.kind.rawValue) of item \(id) without its row" }
      try connection.execute("INSERT OR REPLACE INTO item VALUES (?, ?, ?)", id, value, version)
    }
    return text
  }

  private static func integer(_ row: Row?, _ name: String) -> Int64? {
    guard case .integer(let value)? = row?[name] else { return nil }
    return value
  }
}
