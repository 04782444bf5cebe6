/// Makes up tables, views, triggers and indexes.
///
/// Triggers and cascades go from earlier tables to later ones only, so that none calls itself.
struct SchemaGenerator {
  private var random: SeededRandom
  private(set) var tables: [TableModel] = []
  /// Names of views with the number of their columns.
  private(set) var views: [(name: String, columns: Int)] = []
  private(set) var statements: [SchemaStatement] = []
  private var freeNames: [String]

  init(seed: UInt64) {
    random = SeededRandom(seed: seed, purpose: "schema")
    freeNames = OddNames.tables
    freeNames.shuffle(using: &random)
    makeLedger()
    for _ in 0..<random.int(1...5) { makeTable() }
    if random.chance(40) { makeFullText() }
    if random.chance(20) { makeSpatial() }
    for table in tables where table.shape != .fullText && table.shape != .spatial {
      if random.chance(50) { makeIndex(on: table) }
    }
    makeTriggers()
    if random.chance(60) { makeView() }
  }

  /// Where commits are counted and acknowledged writes are entered, and accounts whose sum is constant.
  private mutating func makeLedger() {
    add(
      Ledger.counter,
      "CREATE TABLE converge_counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
    add(Ledger.counter, "INSERT INTO converge_counter VALUES (1, 0)")
    add(
      Ledger.name,
      "CREATE TABLE converge_ledger (id TEXT PRIMARY KEY NOT NULL, counter INTEGER NOT NULL)"
        + (random.chance(50) ? " WITHOUT ROWID" : ""))
    add(
      Ledger.account,
      "CREATE TABLE converge_account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
    for id in 1...Ledger.accounts {
      add(Ledger.account, "INSERT INTO converge_account VALUES (\(id), \(Ledger.opening))")
    }
  }

  private mutating func add(_ name: String, _ sql: String) {
    statements.append(SchemaStatement(name: name, sql: sql))
  }

  private mutating func name() -> String { freeNames.popLast() ?? "table \(statements.count)" }

  private mutating func makeTable() {
    let shape = random.one(TableModel.Shape.integerKey, .integerKey, .hiddenRowID, .keyed)
    let isStrict = random.chance(25)
    var names = OddNames.columns
    names.shuffle(using: &random)
    func typeName(_ kind: TableModel.Column.Kind) -> String {
      switch kind {
      case .integer: isStrict ? "INTEGER" : "INT"
      case .text: "TEXT"
      case .real: "REAL"
      case .blob: "BLOB"
      }
    }
    var table = TableModel(name: name(), shape: shape, columns: [])
    var parts: [String] = []
    var constraints: [String] = []

    switch shape {
    case .integerKey:
      let key = names.removeLast()
      table.columns.append(.init(name: key, kind: .integer, isKey: true))
      parts.append(
        "\(key.quotedName) INTEGER PRIMARY KEY" + (random.chance(20) ? " AUTOINCREMENT" : ""))
    case .keyed:
      let keys = (0..<random.int(1...3)).map { _ in names.removeLast() }
      for key in keys {
        let kind = random.one(TableModel.Column.Kind.integer, .text)
        table.columns.append(.init(name: key, kind: kind, isKey: true, isRequired: true))
        let collation = kind == .text && random.chance(25) ? " COLLATE NOCASE" : ""
        parts.append("\(key.quotedName) \(typeName(kind)) NOT NULL\(collation)")
      }
      constraints.append(
        "PRIMARY KEY (\(keys.shuffled(using: &random).map(\.quotedName).joined(separator: ", ")))")
    default: break
    }
    for position in 0..<random.int(2...4) {
      var column = TableModel.Column(
        name: names.removeLast(), kind: random.one(.integer, .integer, .text, .real, .blob))
      var part = "\(column.quoted) "
      if let parent = random.chance(35)
        ? random.pick(tables.filter { $0.shape == .integerKey }) : nil
      {
        column.kind = .integer
        column.parent = parent.name
        part += typeName(.integer) + " REFERENCES \(parent.quoted)"
        part += " ON DELETE " + random.one("CASCADE", "SET NULL", "NO ACTION")
        part += " ON UPDATE " + random.one("CASCADE", "SET NULL", "NO ACTION")
        if random.chance(40) { part += " DEFERRABLE INITIALLY DEFERRED" }
      } else if position > 0, random.chance(20),
        let base = random.pick(table.columns.filter { !$0.isGenerated })
      {
        column.isGenerated = true
        column.kind = .text
        part += "TEXT GENERATED ALWAYS AS (quote(\(base.quoted))) "
        part += random.one("VIRTUAL", "STORED")
      } else {
        part += typeName(column.kind)
        if random.chance(20) {
          column.isUnique = true
          part += " UNIQUE"
        }
        if random.chance(15) {
          column.isRequired = true
          part +=
            " NOT NULL DEFAULT (" + Values.literal(of: column.kind, nullable: false, &random) + ")"
        }
      }
      table.columns.append(column)
      parts.append(part)
    }
    var options: [String] = []
    if isStrict { options.append("STRICT") }
    if shape == .keyed { options.append("WITHOUT ROWID") }
    add(
      table.name,
      "CREATE TABLE \(table.quoted) (\((parts + constraints).joined(separator: ", ")))"
        + (options.isEmpty ? "" : " " + options.joined(separator: ", ")))
    tables.append(table)
  }

  private mutating func makeFullText() {
    let table = TableModel(
      name: random.one("words", "full text"), shape: .fullText,
      columns: [.init(name: "title", kind: .text), .init(name: "body", kind: .text)])
    add(table.name, "CREATE VIRTUAL TABLE \(table.quoted) USING fts5(title, body)")
    tables.append(table)
  }

  private mutating func makeSpatial() {
    let table = TableModel(
      name: "places", shape: .spatial,
      columns: [
        .init(name: "id", kind: .integer, isKey: true), .init(name: "low", kind: .integer),
        .init(name: "high", kind: .integer),
      ])
    add(table.name, "CREATE VIRTUAL TABLE places USING rtree_i32(id, low, high)")
    tables.append(table)
  }

  private mutating func makeIndex(on table: TableModel) {
    guard let column = random.pick(table.columns) else { return }
    let name = "index of \(table.name)"
    let condition = random.chance(25) ? " WHERE \(column.quoted) IS NOT NULL" : ""
    add(
      name, "CREATE INDEX \(name.quotedName) ON \(table.quoted) (\(column.quoted))\(condition)")
  }

  private mutating func makeTriggers() {
    let usable = tables.filter { $0.shape != .fullText && $0.shape != .spatial }
    guard usable.count > 1 else { return }
    for _ in 0..<random.int(0...2) {
      let from = random.int(0...(usable.count - 2))
      let source = usable[from]
      guard let target = random.pick(usable[(from + 1)...]),
        let column = random.pick(target.plain.filter { $0.parent == nil })
      else { continue }
      let event = random.one("INSERT", "UPDATE", "DELETE")
      let row = event == "DELETE" ? "OLD" : "NEW"
      guard let value = random.pick(source.columns) else { continue }
      let literal = Values.literal(of: column.kind, nullable: false, &random)
      let body = random.one(
        "UPDATE OR IGNORE \(target.quoted) SET \(column.quoted) = \(literal) "
          + "WHERE \(column.quoted) IS NOT \(literal) AND \(column.quoted) < \(row).\(value.quoted)",
        "DELETE FROM \(target.quoted) WHERE \(column.quoted) = \(row).\(value.quoted)",
        "UPDATE converge_counter SET value = value WHERE id = 1")
      let name = "trigger \(statements.count) on \(source.name)"
      add(
        name,
        "CREATE TRIGGER \(name.quotedName) AFTER \(event) ON \(source.quoted) BEGIN \(body); END")
    }
  }

  private mutating func makeView() {
    guard let table = random.pick(tables.filter { $0.shape == .integerKey || $0.shape == .keyed })
    else { return }
    let name = "view of \(table.name)"
    let columns = Array(table.columns.prefix(3))
    let list = columns.map(\.quoted).joined(separator: ", ")
    let condition = table.numbers.first.map { " WHERE \($0.quoted) > 3" } ?? ""
    add(name, "CREATE VIEW \(name.quotedName) AS SELECT \(list) FROM \(table.quoted)\(condition)")
    views.append((name, columns.count))
  }
}

/// The tables by which every scenario is checked.
enum Ledger {
  static let counter = "converge_counter"
  static let name = "converge_ledger"
  static let account = "converge_account"
  static let accounts = 8
  static let opening = 100
  static let total = Int64(accounts * opening)
}

/// Literals for columns.
enum Values {
  static func literal(
    of kind: TableModel.Column.Kind, nullable: Bool, _ random: inout SeededRandom
  ) -> String {
    if nullable, random.chance(12) { return "NULL" }
    switch kind {
    case .integer:
      return random.chance(5)
        ? random.one("9223372036854775807", "-1", "4294967296") : String(random.int(0...12))
    // Halves: sums of them are exact in any order.
    case .real: return random.one("0.5", "1.5", "2.0", "-3.5", "1e10", "12.5")
    case .text: return (random.pick(OddNames.words) ?? "").quotedText
    case .blob: return random.one("x''", "x'00ff'", "x'c0ffee'", "zeroblob(3)")
    }
  }

  static func key(of kind: TableModel.Column.Kind, _ random: inout SeededRandom) -> String {
    let number = random.int(1...16)
    guard kind == .text else { return String(number) }
    let word = random.one("key", "Key", "schlüssel")
    return "\(word)\(number % 6)".quotedText
  }
}
