import BoutiqueDB

/// A row of the table that is always there, whatever other columns it has at the moment.
@Table("item") struct SchemaItem: Sendable, Equatable {
  let id: Int64
  var name: String
  var value: Int64
}

/// The objects that come and go, and what must hold of each while it is there.
enum SchemaShow {
  static let items = 24
  static let total: Int64 = 2400

  static let schema = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value INTEGER NOT NULL);
    CREATE TABLE entry (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, number INTEGER NOT NULL,
      UNIQUE (process, number));
    CREATE TABLE audit (id INTEGER PRIMARY KEY, item INTEGER NOT NULL, change INTEGER NOT NULL);
    """

  /// A change of the schema, as SQL that any program can run in a transaction.
  enum Alteration: CaseIterable, Sendable {
    case addColumn, dropColumn
    case createIndex, dropIndex
    case createView, otherView, dropView
    case createTrigger, dropTrigger
    case createScratch, otherScratch, dropScratch
    case rename

    /// - Parameter number: tells columns and indexes apart.
    func statements(_ number: Int) -> [String] {
      switch self {
      case .addColumn:
        ["ALTER TABLE item ADD COLUMN x\(number) INTEGER NOT NULL DEFAULT \(number * 7)"]
      case .dropColumn: ["ALTER TABLE item DROP COLUMN x\(number)"]
      case .createIndex:
        [
          "CREATE INDEX IF NOT EXISTS item_\(number) ON item (\(number % 2 == 0 ? "value" : "name, value"))"
        ]
      case .dropIndex: ["DROP INDEX IF EXISTS item_\(number)"]
      case .createView:
        [
          "DROP VIEW IF EXISTS item_view",
          "CREATE VIEW item_view AS SELECT id, value AS v, 1 AS variant FROM item",
        ]
      case .otherView:
        [
          "DROP VIEW IF EXISTS item_view",
          "CREATE VIEW item_view AS SELECT 2 AS variant, value AS v, name, id FROM item",
        ]
      case .dropView: ["DROP VIEW IF EXISTS item_view"]
      case .createTrigger:
        [
          """
          CREATE TRIGGER IF NOT EXISTS item_audit AFTER UPDATE OF value ON item BEGIN
          INSERT INTO audit (item, change) VALUES (new.id, new.value - old.value); END
          """.replacing("\n", with: " ")
        ]
      case .dropTrigger: ["DROP TRIGGER IF EXISTS item_audit"]
      case .createScratch:
        [
          "DROP TABLE IF EXISTS scratch",
          "CREATE TABLE scratch (id INTEGER PRIMARY KEY, variant, a)",
        ]
          + (1...10).map { "INSERT INTO scratch VALUES (\($0), 1, 'a\($0)')" }
      case .otherScratch:
        [
          "DROP TABLE IF EXISTS scratch",
          "CREATE TABLE scratch (b, c, variant, id INTEGER PRIMARY KEY)",
        ] + (1...10).map { "INSERT INTO scratch VALUES ('b\($0)', \($0), 2, \($0))" }
      case .dropScratch: ["DROP TABLE IF EXISTS scratch"]
      // There and back in one transaction: nobody may ever see the other name.
      case .rename:
        ["ALTER TABLE item RENAME TO item_elsewhere", "ALTER TABLE item_elsewhere RENAME TO item"]
      }
    }
  }

  /// Whether an error says that an object is there already, or is not there.
  static func isOfAbsence(_ error: any Error) -> Bool {
    // SQLITE_ERROR; SQLITE_SCHEMA where the schema changed again while SQLite compiled for the second time.
    guard case BoutiqueError.sql(let code, let message) = error, [1, 17].contains(code & 0xff)
    else {
      return false
    }
    return ["no such table", "no such column", "duplicate column", "already exists"].contains {
      message.contains($0)
    }
  }

  // MARK: What must hold

  /// The items in one snapshot, each column that is there with the value that it must have.
  static func items(_ connection: BoutiqueConnection) throws -> [SchemaItem] {
    var items: [SchemaItem] = []
    for row in try connection.query("SELECT * FROM item ORDER BY id") {
      items.append(
        SchemaItem(
          id: try row.decode("id"), name: try row.decode("name"), value: try row.decode("value")))
      for (name, value) in zip(row.columns, row.values) where name.hasPrefix("x") {
        guard let number = Int64(name.dropFirst()), value == .integer(number * 7) else {
          throw WrongRow(text: "\(name) of item \(row[0]) is \(value)")
        }
      }
    }
    try check(items)
    return items
  }

  static func check(_ items: [SchemaItem]) throws {
    let sum = items.reduce(0) { $0 + $1.value }
    guard items.count == Self.items, sum == total else {
      throw WrongRow(text: "\(items.count) items with a sum of \(sum)")
    }
    for item in items where item.name != "item \(item.id)" {
      throw WrongRow(text: "item \(item.id) has the name \(item.name)")
    }
  }

  /// The view's rows; both definitions say the same, in another order of columns.
  static func view(_ connection: BoutiqueConnection) throws -> Int64 {
    let rows = try connection.query("SELECT * FROM item_view")
    let sum = try rows.reduce(Int64(0)) { $0 + (try $1.decode("v", as: Int64.self)) }
    let variants = try Set(rows.map { try $0.decode("variant", as: Int64.self) })
    let columns = rows.first?.columns.count
    guard rows.count == items, sum == total, variants.count == 1,
      columns == (variants == [1] ? 3 : 4)
    else {
      throw WrongRow(
        text:
          "the view has \(rows.count) rows of \(columns ?? 0) columns, sum \(sum), of \(variants)"
      )
    }
    return sum
  }

  /// The table that is made, filled and dropped, each time in one transaction.
  static func scratch(_ connection: BoutiqueConnection) throws -> [String] {
    let rows = try connection.query("SELECT * FROM scratch ORDER BY id")
    for row in rows {
      let expected =
        row["variant"] == .integer(1)
        ? ["id", "variant", "a"] : ["b", "c", "variant", "id"]
      let id: Int64 = try row.decode("id")
      let text: String = try row.decode(row["variant"] == .integer(1) ? "a" : "b")
      guard row.columns == expected, text == "\(expected.contains("a") ? "a" : "b")\(id)" else {
        throw WrongRow(
          text: "a scratch row is \(zip(row.columns, row.values).map { "\($0)=\($1)" })")
      }
    }
    guard rows.count == 10 else { throw WrongRow(text: "scratch has \(rows.count) rows") }
    return rows.map { "\($0.values)" }
  }
}

/// Rows that no schema of the workload could give.
struct WrongRow: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
