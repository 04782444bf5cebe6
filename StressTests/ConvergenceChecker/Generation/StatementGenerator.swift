/// Makes up what writers do.
struct StatementGenerator {
  private var random: SeededRandom
  private let tables: [TableModel]
  /// Numbers of columns and tables made on the way.
  private var serial = 0

  /// Whether nothing may happen that refreshes everything.
  private let isFine: Bool

  init(seed: UInt64, purpose: String, tables: [TableModel], isFine: Bool) {
    self.isFine = isFine
    random = SeededRandom(seed: seed, purpose: purpose)
    self.tables = tables
  }

  /// Returns the steps of one transaction.
  mutating func steps() -> [Step] {
    var steps: [Step] = []
    for _ in 0..<random.int(1...4) { steps += step() }
    return steps
  }

  private mutating func step() -> [Step] {
    switch random.int(1...100) {
    case ...14: return transfer()
    case ...22:
      let inner = (0..<random.int(1...3)).flatMap { _ in statement() }
      return [Step(savepoint: inner, isUndone: random.chance(60))]
    case ...26: return isFine && random.chance(80) ? statement() : [ddl()]
    case ...28 where !isFine:
      return [.statement("PRAGMA user_version = \(random.int(1...1000))")]
    case ...31:
      return [.statement("INSERT INTO \"no such table\" VALUES (1)", mayFail: true)]
    default: return statement()
    }
  }

  /// Moves money; the sum of all accounts stays.
  private mutating func transfer() -> [Step] {
    let (from, to) = (random.int(1...Ledger.accounts), random.int(1...Ledger.accounts))
    let amount = random.int(1...9)
    if random.chance(30) {
      return [
        .statement(
          "UPDATE converge_account SET balance = balance + CASE id WHEN \(from) THEN -\(amount) "
            + "ELSE \(amount) END WHERE id IN (\(from), \(from % Ledger.accounts + 1))")
      ]
    }
    return [
      .statement("UPDATE converge_account SET balance = balance - \(amount) WHERE id = \(from)"),
      .statement("UPDATE converge_account SET balance = balance + \(amount) WHERE id = \(to)"),
    ]
  }

  private mutating func ddl() -> Step {
    let number = random.int(1...2)
    switch random.int(1...5) {
    case 1 where random.chance(30):
      return .statement(
        "ALTER TABLE \"made \(number)\" RENAME TO \"made \(3 - number)\"", mayFail: true)
    case 1: return .statement("CREATE TABLE IF NOT EXISTS \"made \(number)\" (x, y)")
    case 2: return .statement("DROP TABLE IF EXISTS \"made \(number)\"")
    case 3:
      guard
        let table = random.pick(tables.filter { $0.shape != .fullText && $0.shape != .spatial })
      else { return .statement("SELECT 1") }
      serial += 1
      return .statement(
        "ALTER TABLE \(table.quoted) ADD COLUMN \("added \(serial % 3)".quotedName) DEFAULT \(number)",
        mayFail: true)
    default:
      return .statement(
        "INSERT INTO \"made \(number)\" VALUES (\(random.int(0...9)), \(random.int(0...9)))",
        mayFail: true)
    }
  }

  /// Returns one or more statements on one table.
  private mutating func statement() -> [Step] {
    guard let table = random.pick(tables) else { return transfer() }
    switch table.shape {
    case .fullText: return [fullText(table)]
    case .spatial: return [spatial(table)]
    default: break
    }
    let sql: String
    switch random.int(1...100) {
    case ...30: sql = insert(table, random.one("INSERT", "INSERT", "INSERT OR IGNORE"))
    case ...42: sql = insert(table, random.one("REPLACE", "INSERT OR REPLACE"))
    case ...52: sql = insert(table, "INSERT") + " ON CONFLICT DO " + upsert(table)
    case ...70: sql = update(table)
    case ...76: sql = updateOfKey(table)
    case ...88: sql = "DELETE FROM \(table.quoted) WHERE \(condition(table))"
    case ...90: sql = "DELETE FROM \(table.quoted)"
    case ...94: sql = copy(table)
    default: sql = bulk(table)
    }
    return [.statement(sql, mayFail: true)]
  }

  private mutating func values(_ columns: [TableModel.Column]) -> String {
    var values: [String] = []
    for column in columns {
      if column.isKey {
        values.append(Values.key(of: column.kind, &random))
      } else if column.parent != nil {
        values.append(random.chance(20) ? "NULL" : String(random.int(1...16)))
      } else {
        values.append(Values.literal(of: column.kind, nullable: !column.isRequired, &random))
      }
    }
    return "(" + values.joined(separator: ", ") + ")"
  }

  private mutating func insert(_ table: TableModel, _ verb: String) -> String {
    let columns = table.settable
    let rows = (0..<(random.chance(20) ? random.int(2...5) : 1)).map { _ in values(columns) }
    return "\(verb) INTO \(table.quoted) (\(columns.map(\.quoted).joined(separator: ", "))) VALUES "
      + rows.joined(separator: ", ")
  }

  private mutating func upsert(_ table: TableModel) -> String {
    guard let column = random.pick(table.plain), random.chance(80) else { return "NOTHING" }
    return "UPDATE SET \(column.quoted) = excluded.\(column.quoted)"
  }

  private mutating func condition(_ table: TableModel) -> String {
    if let key = random.pick(table.keys), random.chance(70) {
      let value = Values.key(of: key.kind, &random)
      return random.chance(75) ? "\(key.quoted) = \(value)" : "\(key.quoted) > \(value)"
    }
    guard let column = random.pick(table.columns) else { return "1" }
    let value = Values.literal(of: column.kind, nullable: false, &random)
    return "\(column.quoted) \(random.one("=", "<", ">=", "IS NOT")) \(value)"
  }

  private mutating func update(_ table: TableModel) -> String {
    var columns = table.plain
    columns.shuffle(using: &random)
    guard !columns.isEmpty else { return updateOfKey(table) }
    var settings: [String] = []
    for column in columns.prefix(random.int(1...2)) {
      let value =
        column.parent != nil
        ? String(random.int(1...16))
        : Values.literal(of: column.kind, nullable: !column.isRequired, &random)
      settings.append("\(column.quoted) = \(value)")
    }
    let condition = random.chance(8) ? "" : " WHERE \(condition(table))"
    return "UPDATE \(random.chance(20) ? "OR REPLACE " : "")\(table.quoted) "
      + "SET \(settings.joined(separator: ", "))\(condition)"
  }

  private mutating func updateOfKey(_ table: TableModel) -> String {
    if table.keys.isEmpty {
      return "UPDATE OR IGNORE \(table.quoted) SET _rowid_ = \(random.int(1...30)) "
        + "WHERE _rowid_ = \(random.int(1...30))"
    }
    guard let key = random.pick(table.keys) else { return "SELECT 1" }
    let verb = random.one("UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE")
    let value =
      key.kind == .integer && random.chance(30)
      ? "\(key.quoted) + \(random.int(1...3))" : Values.key(of: key.kind, &random)
    return "\(verb) \(table.quoted) SET \(key.quoted) = \(value) WHERE \(condition(table))"
  }

  /// INSERT … SELECT from the table itself or another.
  private mutating func copy(_ table: TableModel) -> String {
    let columns = table.settable
    var expressions: [String] = []
    for column in columns {
      expressions.append(
        column.isKey
          ? (column.kind == .integer ? "\(column.quoted) + 1" : "\(column.quoted) || '2'")
          : column.quoted)
    }
    return "INSERT OR IGNORE INTO \(table.quoted) "
      + "(\(columns.map(\.quoted).joined(separator: ", "))) "
      + "SELECT \(expressions.joined(separator: ", ")) FROM \(table.quoted) "
      + "WHERE \(condition(table)) LIMIT 5"
  }

  /// Many rows by one statement, often more than are captured one by one.
  private mutating func bulk(_ table: TableModel) -> String {
    let columns = table.settable
    var expressions: [String] = []
    for column in columns {
      expressions.append(
        column.isKey
          ? (column.kind == .integer ? "i" : "'key' || (i % 7)")
          : column.parent != nil
            ? "NULL" : Values.literal(of: column.kind, nullable: !column.isRequired, &random))
    }
    return "INSERT OR IGNORE INTO \(table.quoted) "
      + "(\(columns.map(\.quoted).joined(separator: ", "))) "
      + "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(random.int(5...25))) "
      + "SELECT \(expressions.joined(separator: ", ")) FROM n"
  }

  private mutating func fullText(_ table: TableModel) -> Step {
    let row = random.int(1...10)
    let (title, body) = (word(), word() + " " + word())
    let sql: String
    switch random.int(1...10) {
    case ...5:
      sql =
        "INSERT OR REPLACE INTO \(table.quoted) (rowid, title, body) "
        + "VALUES (\(row), \(title.quotedText), \(body.quotedText))"
    case ...7: sql = "UPDATE \(table.quoted) SET body = \(body.quotedText) WHERE rowid = \(row)"
    case ...9: sql = "DELETE FROM \(table.quoted) WHERE rowid = \(row)"
    default: sql = "INSERT INTO \(table.quoted) (\(table.quoted)) VALUES ('optimize')"
    }
    return .statement(sql, mayFail: true)
  }

  private mutating func word() -> String { random.one("apple", "banana", "cherry", "date") }

  private mutating func spatial(_ table: TableModel) -> Step {
    let (id, low) = (random.int(1...10), random.int(0...50))
    let sql: String
    switch random.int(1...4) {
    case ...2:
      sql =
        "INSERT OR REPLACE INTO \(table.quoted) VALUES (\(id), \(low), \(low + random.int(0...9)))"
    case 3: sql = "UPDATE \(table.quoted) SET high = high + 1 WHERE id = \(id)"
    default: sql = "DELETE FROM \(table.quoted) WHERE id = \(id)"
    }
    return .statement(sql, mayFail: true)
  }
}
