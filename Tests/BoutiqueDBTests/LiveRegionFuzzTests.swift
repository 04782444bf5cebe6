import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// Random queries against random changes: whenever a result has changed, the query must have been told.
@Suite struct LiveRegionFuzzTests {
  /// Not comparable, so that every run is delivered.
  struct Result: Sendable {
    var rows: [[SQLValue]]
  }

  @Test func `no change of a result goes unnoticed`() async throws {
    let given = ProcessInfo.processInfo.environment["BOUTIQUE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    var random = RegionFuzz(state: seed)
    var spared = 0
    var heard = 0
    for _ in 0..<40 {
      let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
      let schema = random.schema()
      try await db.write { conn in
        // Some rows do not fit some keys.
        for statement in schema { _ = try? conn.execute(statement) }
      }
      var observers: [(String, [SQLValue], QueryObservation<Result>.Iterator)] = []
      for _ in 0..<25 {
        let (sql, arguments) = random.query()
        var values = db.observe { conn in
          Result(rows: try conn.query(sql, arguments: arguments).map(\.values))
        }.makeAsyncIterator()
        _ = try await values.next()
        observers.append((sql, arguments, values))
      }
      for _ in 0..<25 {
        let before = try await Self.results(of: observers, in: db)
        let changes = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.change() }
        try await db.write { conn in
          for change in changes { _ = try? conn.execute(change) }
        }
        let after = try await Self.results(of: observers, in: db)
        for index in observers.indices {
          var (sql, arguments, values) = observers[index]
          if values.isCurrent {
            spared += 1
            #expect(
              before[index] == after[index],
              "seed \(seed): \(changes) unnoticed by \(sql) \(arguments), schema \(schema)")
          } else {
            heard += 1
            let value = try await values.next()
            #expect(value?.rows == after[index], "seed \(seed): \(sql)")
            observers[index].2 = values
          }
        }
      }
      await db.close()
    }
    // Neither arm is dead.
    #expect(spared > 1000 && heard > 1000, "\(spared) \(heard)")
  }

  private static func results(
    of observers: [(String, [SQLValue], QueryObservation<Result>.Iterator)], in db: BoutiqueDB
  ) async throws -> [[[SQLValue]]] {
    let statements = observers.map { ($0.0, $0.1) }
    return try await db.read { conn in
      try statements.map { try conn.query($0.0, arguments: $0.1).map(\.values) }
    }
  }
}

/// Small numbers and names, so that keys meet.
private struct RegionFuzz: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: list.indices, using: &self)] }

  mutating func schema() -> [String] {
    var sql = ""
    let key = pick(["INTEGER PRIMARY KEY", "INT PRIMARY KEY", "TEXT PRIMARY KEY", "PRIMARY KEY"])
    sql += "CREATE TABLE a (k \(key), u \(pick(["UNIQUE", "TEXT UNIQUE", "REAL UNIQUE", ""])), x, y"
    sql += pick(["", ", z AS (x) STORED", ", z AS (x)"]) + ")|"
    sql += "CREATE TABLE b (k \(pick(["INTEGER", "TEXT", "REAL"])), u INT, x, y, PRIMARY KEY "
    sql +=
      pick(["(k, u)", "(u, k)", "(k)", "(k, u DESC)"]) + ")" + pick(["", " WITHOUT ROWID"]) + "|"
    if Bool.random(using: &self) { sql += "CREATE INDEX ax ON a (x)|" }
    if Bool.random(using: &self) { sql += "CREATE UNIQUE INDEX bxy ON b (x, y)|" }
    if Bool.random(using: &self) {
      sql += """
        CREATE TRIGGER tr AFTER UPDATE ON a BEGIN UPDATE b SET x = new.x WHERE k = new.k; END|
        """
    }
    sql += "CREATE VIEW v AS SELECT k, x FROM a WHERE y IS NOT 3|"
    for _ in 0..<6 {
      sql += "INSERT OR IGNORE INTO a (k, u, x, y) VALUES (\(literal()), \(literal()), 1, 2)|"
      sql += "INSERT OR IGNORE INTO b VALUES (\(literal()), \(literal()), \(literal()), 1)|"
    }
    return sql.split(separator: "|").map(String.init)
  }

  mutating func literal() -> String {
    if Int.random(in: 0..<10, using: &self) == 0 {
      return pick(["9223372036854775807", "-9223372036854775808", "9.3e18", "-9.3e18", "-1", "0"])
    }
    return pick(["1", "2", "3", "4", "'1'", "'2'", "'a'", "'A'", "2.0", "1.5", "NULL", "x'31'"])
  }

  mutating func argument() -> SQLValue {
    if Int.random(in: 0..<10, using: &self) == 0 {
      return pick([.integer(.max), .integer(.min), 9.3e18, -9.3e18, .real(.infinity), -1, 0])
    }
    return pick([1, 2, 3, 4, "1", "2", "a", "A", 2.0, 1.5, .null, .blob([0x31])])
  }

  mutating func query() -> (String, [SQLValue]) {
    let select = pick(["*", "x", "y, x", "count(*)", "max(x)", "u", "k", "1"])
    let from = pick(["a", "a", "b", "b", "v"])
    let select2 = from == "v" && select != "count(*)" ? "k, x" : select
    var arguments: [SQLValue] = []
    var conditions: [String] = []
    for _ in 0..<Int.random(in: 0...3, using: &self) {
      let column = from == "v" ? pick(["k", "x"]) : pick(["k", "k", "u", "u", "x", "y"])
      switch Int.random(in: 0..<13, using: &self) {
      case 9:
        let low = pick([">", ">="])
        conditions.append("\(column) \(low) ? AND \(from).\(column) < \(literal())")
        arguments.append(argument())
      case 10:
        conditions.append("\(column) \(pick(["<", ">="])) (SELECT max(k) FROM a WHERE k < ?)")
        arguments.append(argument())
      case 11:
        let inner = pick(["q.k = \(from).x", "q.k < \(from).k", "q.k <> 3"])
        conditions.append(
          "x IN (SELECT q.x FROM \(pick(["a", "b"])) q WHERE q.k > ? AND \(inner))")
        arguments.append(argument())
      case 12:
        conditions.append("\(column) NOT BETWEEN ? AND ?")
        arguments += [argument(), argument()]
      case 7:
        conditions.append("\(column) BETWEEN ? AND ?")
        arguments += [argument(), argument()]
      case 8:
        conditions.append("\(column) \(pick(["<", "<=", ">", ">="])) ?")
        arguments.append(argument())
      case 0, 1, 2:
        conditions.append("\(column) = ?")
        arguments.append(argument())
      case 3:
        conditions.append("\(column) IN (?, ?)")
        arguments += [argument(), argument()]
      case 4: conditions.append("\(column) IS \(literal())")
      case 5: conditions.append("\(column) > \(literal())")
      default: conditions.append("\(column) = \(pick(["1", "'a'", "2"]))")
      }
    }
    var sql = "SELECT \(select2) FROM \(from)"
    if Int.random(in: 0..<4, using: &self) == 0 {
      sql =
        "SELECT \(from).*, o.x FROM \(from) \(pick(["JOIN", "LEFT JOIN"])) \(pick(["a", "b"])) o ON "
      switch Int.random(in: 0..<4, using: &self) {
      case 0:
        sql += "o.k > ?"
        arguments.insert(argument(), at: 0)
      case 1:
        sql += "o.k BETWEEN ? AND ?"
        arguments.insert(contentsOf: [argument(), argument()], at: 0)
      default: sql += "o.k = \(from).k"
      }
    }
    if !conditions.isEmpty {
      let columns = conditions.map { "\(from)." + $0 }
      sql += " WHERE " + columns.joined(separator: pick([" AND ", " AND ", " OR "]))
    }
    return (
      sql
        + pick([
          "", "", " ORDER BY 1", " LIMIT 2", " ORDER BY \(from).k",
          " ORDER BY \(from).k DESC LIMIT 1", " ORDER BY \(from == "b" ? "b.x" : "k") DESC",
        ]),
      arguments
    )
  }

  mutating func change() -> String {
    let table = pick(["a", "b"])
    let column = pick(["k", "u", "x", "y"])
    switch Int.random(in: 0..<6, using: &self) {
    case 0:
      return
        "INSERT OR REPLACE INTO \(table) (k, u, x, y) VALUES (\(literal()), \(literal()), \(literal()), 5)"
    case 1: return "DELETE FROM \(table) WHERE \(column) = \(literal())"
    case 2: return "UPDATE \(table) SET \(column) = \(literal())"
    case 3: return "DELETE FROM \(table) WHERE rowid = 1"
    default:
      return
        "UPDATE OR \(pick(["IGNORE", "REPLACE"])) \(table) SET \(column) = \(literal()) WHERE \(pick(["k", "u", "x"])) = \(literal())"
    }
  }
}
