/// Makes up live queries.
///
/// Each orders its rows for good: answers are compared line by line.
struct QueryGenerator {
  private var random: SeededRandom
  private let tables: [TableModel]
  private let views: [(name: String, columns: Int)]

  init(seed: UInt64, tables: [TableModel], views: [(name: String, columns: Int)]) {
    random = SeededRandom(seed: seed, purpose: "queries")
    self.tables = tables
    self.views = views
  }

  /// Returns the queries of one observer, numbered from `first`.
  mutating func queries(of observer: String, count: Int, from first: Int) -> [QueryPlan] {
    (0..<count).map { offset in
      var plan = query(id: first + offset, observer)
      if plan.style == .sequence, plan.constantSum == nil {
        if random.chance(15) { plan.style = .property }
      }
      // VACUUM may number rows without an INTEGER PRIMARY KEY anew, and is no commit that is counted.
      let showsRowIDs = plan.sql.contains { $0.contains("_rowid_") }
      plan.isCounted = plan.style == .sequence && random.chance(45) && !showsRowIDs
      if random.chance(25) { plan.pause = random.int(1...40) }
      if plan.style != .property, random.chance(25) { plan.restartsAfter = random.int(2...12) }
      return plan
    }
  }

  private mutating func query(id: Int, _ observer: String) -> QueryPlan {
    var plan = QueryPlan(id: id, observer: observer, sql: [])
    switch random.int(1...100) {
    case ...10:
      plan.sql = [
        random.one(
          "SELECT balance FROM converge_account ORDER BY id",
          "SELECT sum(balance) FROM converge_account")
      ]
      plan.constantSum = Ledger.total
    case ...18:
      plan.style = .statement
      plan.sql = [random.pick(AccountQueries.all.map(\.sql)) ?? ""]
    case ...24:
      plan.sql = [
        random.one(
          "SELECT count(*), max(counter) FROM converge_ledger",
          "SELECT id FROM converge_ledger ORDER BY counter DESC LIMIT 3")
      ]
    case ...30:
      plan.sql = ["SELECT * FROM \"made \(random.int(1...2))\" ORDER BY 1, 2"]
    case ...36:
      plan.sql =
        views.first.map { view in
          let order = (1...view.columns).map(String.init).joined(separator: ", ")
          return ["SELECT * FROM \(view.name.quotedName) ORDER BY \(order)"]
        } ?? [any()]
    case ...44: plan.sql = dependent()
    default: plan.sql = [any()]
    }
    return plan
  }

  /// A second query that depends on what the first one found.
  private mutating func dependent() -> [String] {
    guard let table = random.pick(tables) else { return [any()] }
    if let key = table.keys.first, key.kind == .integer, random.chance(50) {
      return [
        "SELECT max(\(key.quoted)) FROM \(table.quoted)",
        "SELECT \(list(table)) FROM \(table.quoted) WHERE \(key.quoted) = ? ORDER BY \(table.order)",
      ]
    }
    return ["SELECT count(*) FROM \(table.quoted)", any(), any()]
  }

  private func list(_ table: TableModel) -> String {
    table.columns.map(\.quoted).joined(separator: ", ")
  }

  private mutating func any() -> String {
    guard let table = random.pick(tables) else { return "SELECT count(*) FROM converge_ledger" }
    switch table.shape {
    case .fullText:
      return random.one(
        "SELECT rowid, title FROM \(table.quoted) WHERE \(table.quoted) MATCH 'apple OR date' ORDER BY rowid",
        "SELECT count(*) FROM \(table.quoted)")
    case .spatial:
      return "SELECT id, high FROM \(table.quoted) WHERE low BETWEEN 10 AND 30 ORDER BY id"
    default: break
    }
    let name = spelled(table)
    let column = random.pick(table.columns)?.quoted ?? "1"
    switch random.int(1...12) {
    case 1: return "SELECT * FROM \(name) ORDER BY \(table.order)"
    case 2: return "SELECT \(list(table)) FROM \(name) ORDER BY \(table.order)"
    case 3: return "SELECT count(*) FROM \(name)"
    case 4, 5: return keyed(table, name)
    case 6:
      return "SELECT \(column), count(*) FROM \(name) GROUP BY 1 HAVING count(*) > 0 ORDER BY 1, 2"
    case 7:
      let number = table.numbers.first?.quoted ?? "1"
      return "SELECT \(column), row_number() OVER (ORDER BY \(table.order)), "
        + "sum(\(number)) OVER (PARTITION BY \(column)) FROM \(name) ORDER BY 2"
    case 8: return joined(table, name)
    case 9:
      guard let key = table.keys.first(where: { $0.kind == .integer }) else {
        return "SELECT DISTINCT \(column) FROM \(name) ORDER BY 1"
      }
      return "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 20) "
        + "SELECT i, (SELECT count(*) FROM \(name) WHERE \(key.quoted) = i) FROM n ORDER BY i"
    case 10:
      return "SELECT max(\(column)), min(\(column)), count(\(column)) FROM \(name)"
    case 11:
      return "SELECT \(column) FROM \(name) WHERE \(column) IS NOT NULL ORDER BY 1 DESC LIMIT 4"
    default:
      let other = random.pick(tables)?.quoted ?? "converge_account"
      return "SELECT EXISTS (SELECT 1 FROM \(name) WHERE \(column) IS NULL), "
        + "(SELECT count(*) FROM \(other))"
    }
  }

  /// The table's name, now and then in another case: SQLite finds it all the same.
  private mutating func spelled(_ table: TableModel) -> String {
    guard random.chance(20), table.name.allSatisfy(\.isASCII) else { return table.quoted }
    return random.one(table.name.uppercased(), table.name.lowercased()).quotedName
  }

  private mutating func keyed(_ table: TableModel, _ name: String) -> String {
    if let column = table.columns.first(where: \.isUnique), random.chance(50) {
      let value = Values.literal(of: column.kind, nullable: false, &random)
      return "SELECT \(list(table)) FROM \(name) WHERE \(column.quoted) = \(value) "
        + "ORDER BY \(table.order)"
    }
    guard !table.keys.isEmpty else {
      let row = random.int(1...12)
      return "SELECT \(list(table)) FROM \(name) WHERE _rowid_ IN (\(row), \(row + 1)) "
        + "ORDER BY \(table.order)"
    }
    var conditions: [String] = []
    for key in table.keys {
      let values = (0..<random.int(1...3)).map { _ in Values.key(of: key.kind, &random) }
      conditions.append(
        values.count == 1
          ? "\(key.quoted) = \(values[0])"
          : "\(key.quoted) IN (\(values.joined(separator: ", ")))")
    }
    return "SELECT \(list(table)) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) "
      + "ORDER BY \(table.order)"
  }

  private mutating func joined(_ table: TableModel, _ name: String) -> String {
    let others = tables.filter { $0.shape != .fullText && $0.shape != .spatial }
    guard let other = random.pick(others), let left = random.pick(table.columns),
      let right = random.pick(other.columns)
    else { return "SELECT 1" }
    let join = random.one("JOIN", "LEFT JOIN")
    return "SELECT l.\(left.quoted), count(r.\(right.quoted)) FROM \(name) AS l "
      + "\(join) \(other.quoted) AS r ON l.\(left.quoted) = r.\(right.quoted) GROUP BY 1 ORDER BY 1"
  }
}
