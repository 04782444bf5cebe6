import BoutiqueDB
import Foundation
import SQLiteConnection
import TestDatabase
import Testing

/// Random statements against random changes: what is brought up to date row by row is what a run would give.
@Suite struct KeptListFuzzTests {
  @BoutiqueTable("item")
  struct Item: Equatable {
    let id: Int
    var n: SQLValue
    var r: SQLValue
    var t: SQLValue
    var b: SQLValue
  }

  /// The same table, for what is summed up.
  @BoutiqueTable("item")
  struct Number: Equatable {
    let id: Int
    var n: Double?
  }

  @Test(.timeLimit(.minutes(10)))
  func `a list kept up to date is what a run gives, whoever writes`() async throws {
    let given = ProcessInfo.processInfo.environment["BOUTIQUE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    var fuzz = KeptListFuzz(state: seed)
    var steps = 0
    var runs = 0
    var heard = 0
    for round in 0..<8 {
      var configuration = BoutiqueConfiguration()
      configuration.foreignCapture = round % 2 == 0 ? .coarse : .precise
      configuration.writeLockTimeout = .seconds(600)
      let schema = fuzz.schema()
      let plan = BoutiqueMigrationPlan {
        BoutiqueMigration("schema") { conn in
          for statement in schema { try conn.execute(statement) }
        }
      }
      try await withTestDatabase(configuration: configuration, migrations: plan) { db, _ in
        db.keepResults(from: 0)
        let other = try await BoutiqueDB.open(
          path: db.path, configuration: configuration, migrations: plan)
        var watched: [any Watched] = []
        for _ in 0..<10 { watched.append(fuzz.watched(db)) }
        for index in watched.indices { try await watched[index].start(db) }
        for _ in 0..<40 {
          let changes = fuzz.changes()
          let writer = fuzz.writer()
          switch writer {
          case .own:
            try await db.write { conn in
              for change in changes { _ = try? conn.execute(change) }
            }
          case .other:
            try await other.write { conn in
              for change in changes { _ = try? conn.execute(change) }
            }
          case .foreign:
            let connection = try Connection(path: db.path)
            connection.setBusyHandler { $0 < 10_000 }
            for change in changes { try? connection.execute(change) }
            connection.close()
          }
          for index in watched.indices {
            heard += try await watched[index].check(
              db, "seed \(seed), round \(round): \(changes) by \(writer), schema \(schema)")
          }
        }
        steps += db.liveQueryWork.steps
        runs += db.liveQueryWork.runs
        await other.close()
      }
    }
    // Neither arm is dead.
    #expect(heard > 300 && steps > 300 && runs > 50, "heard \(heard), \(steps) steps, \(runs) runs")
  }
}

/// A live query and what it has to show.
private protocol Watched {
  mutating func start(_ db: BoutiqueDB) async throws
  /// - Returns: 1 when there was something new.
  mutating func check(_ db: BoutiqueDB, _ circumstances: String) async throws -> Int
}

private struct WatchedList<S: Statement>: Watched where S.QueryValue.Output: Equatable {
  typealias Row = S.QueryValue.Output
  let query: @Sendable () -> S
  var values: QueryObservation<[Row]>.Iterator
  var changes: ListDifferences<[Row]>.Iterator
  var last: [Row] = []

  init(_ db: BoutiqueDB, _ statement: S) {
    query = { statement }
    values = Self.observeAll(db, query).makeAsyncIterator()
    changes = db.observe(query).differences.makeAsyncIterator()
  }

  /// Observes rows as if they could not be compared, so that each run is delivered, a wrong one too.
  private static func observeAll<T: Statement>(
    _ db: BoutiqueDB, _ query: @escaping @Sendable () -> T
  ) -> QueryObservation<[T.QueryValue.Output]> { db.observe(query) }

  mutating func start(_ db: BoutiqueDB) async throws {
    last = try #require(try await values.next())
    let first = try #require(try await changes.next())
    #expect(first.elements == last)
    #expect(first.inserted == Array(last.indices) && first.removed.isEmpty && first.moved.isEmpty)
  }

  mutating func check(_ db: BoutiqueDB, _ circumstances: String) async throws -> Int {
    let statement = query()
    let expected = try await db.read { try $0.fetchAll(statement) }
    let text = "\(circumstances): \(statement.query.debugDescription)"
    guard expected != last else { return 0 }
    let value = try #require(try await values.next())
    // What is wrong here may not be delivered there.
    try #require(value == expected, "\(text)")
    let change = try #require(try await changes.next())
    try #require(change.elements == expected, "difference, \(text)")
    var applied = last
    change.apply(to: &applied)
    try #require(applied == expected, "applied \(change.description), \(text)")
    last = expected
    return 1
  }
}

extension ListDifference {
  fileprivate var description: String {
    "removed \(removed), inserted \(inserted), moved \(moved), updated \(updated)"
  }
}

private enum FuzzWriter {
  case own
  case other
  case foreign
}

/// Values that are hard to put in order, and few of them, so that many are equal.
private struct KeptListFuzz: RandomNumberGenerator {
  typealias Item = KeptListFuzzTests.Item
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: list.indices, using: &self)] }
  mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }

  mutating func schema() -> [String] {
    let collation = pick(["", "COLLATE NOCASE", "COLLATE RTRIM"])
    var sql = [
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, n, r REAL, t TEXT \(collation), \
      b \(pick(["", "UNIQUE", "INTEGER"])))
      """
    ]
    for index in 0..<roll(3) {
      let columns = pick([
        "n", "t", "r DESC", "n, t", "t DESC, n", "t COLLATE NOCASE", "r, b", "n) WHERE n > (1",
      ])
      sql.append("CREATE INDEX i\(index) ON item (\(columns))")
    }
    if roll(3) == 0 {
      sql.append(
        """
        CREATE TRIGGER tr AFTER UPDATE OF n ON item BEGIN \
        UPDATE item SET r = 1.5 WHERE id = new.id + 1; END
        """)
    }
    for id in 1...(20 + roll(100)) {
      sql.append("INSERT OR IGNORE INTO item VALUES (\(id), \(row()))")
    }
    return sql
  }

  mutating func row() -> String { "\(literal()), \(number()), \(literal()), \(literal())" }

  mutating func number() -> String {
    pick([
      "0", "-0.0", "1", "1.5", "2", "-1", "1e300", "-1e300", "9007199254740992.0", "NULL", "9e999",
      "3", "4", "-9223372036854775808",
    ])
  }

  mutating func literal() -> String {
    pick([
      "'a'", "'A'", "'b'", "'B '", "'a '", "'a  '", "'é'", "'e\u{301}'", "'É'", "''", "'aa'",
      "'Ab'",
      "'ab'", "'z'", "'_'", "'['", "x'61'", "x''", "x'00'", "x'0000'", "x'ff'", "x'00ff'", "NULL",
      "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740994.0",
      "9223372036854775807", "9223372036854775808.0", "-9223372036854775808", "-1.5", "\(roll(40))",
      "\(roll(40))", "\(roll(40)).5", "'t\(roll(20))'", "'T\(roll(20))'", number(), number(),
      roll(8) == 0 ? "'a' || char(0)" : "'a'",
    ])
  }

  mutating func writer() -> FuzzWriter {
    switch roll(12) {
    case 0: .foreign
    case 1, 2, 3: .other
    default: .own
    }
  }

  mutating func changes() -> [String] {
    (0..<(roll(4) == 0 ? 6 : 1)).map { _ in change() }
  }

  mutating func change() -> String {
    let id = 1 + roll(130)
    let column = pick(["n", "t", "b", "r"])
    switch roll(16) {
    case 0, 1, 2: return "INSERT OR IGNORE INTO item VALUES (\(id), \(row()))"
    case 3: return "INSERT OR REPLACE INTO item VALUES (\(id), \(row()))"
    case 4, 5, 6, 7: return "UPDATE OR IGNORE item SET \(column) = \(literal()) WHERE id = \(id)"
    case 8: return "UPDATE item SET r = \(number()) WHERE id BETWEEN \(id) AND \(id + roll(6))"
    case 9, 10: return "DELETE FROM item WHERE id = \(id)"
    case 11: return "DELETE FROM item WHERE id BETWEEN \(id) AND \(id + roll(10))"
    case 12: return "UPDATE OR REPLACE item SET id = \(1 + roll(130)) WHERE id = \(id)"
    case 13: return "UPDATE item SET n = n WHERE id = \(id)"
    case 14 where roll(6) == 0: return "UPDATE OR IGNORE item SET \(column) = \(literal())"
    default: return "INSERT OR IGNORE INTO item VALUES (NULL, \(row()))"
    }
  }

  mutating func filter(_ all: Where<Item>) -> Where<Item> {
    switch roll(9) {
    case 0: all.where { $0.n > .integer(9_007_199_254_740_992) }
    case 1: all.where { $0.r < .real(1.6) }
    case 2: all.where { #sql("\($0.t) LIKE \(pick(["a%", "t%", "%"]))", as: Bool.self) }
    case 3: all.where { $0.n.in([.integer(1), .integer(2), .real(1.5), .text("a"), .null]) }
    case 4: all.where { #sql("\($0.t) IS NOT NULL AND length(\($0.t)) < 3", as: Bool.self) }
    case 5: all.where { $0.id > 10 }
    case 6: all.where { #sql("\($0.n) > 1", as: Bool.self) }
    default: all
    }
  }

  mutating func order(
    _ all: Select<Item, InnerSide<Item>, WholeRows>
  ) -> Select<Item, InnerSide<Item>, WholeRows> {
    var select = all
    for _ in 0..<pick([0, 1, 1, 1, 2, 3]) {
      let nulls = pick([nil, NullOrder.first, .last])
      let isDescending = roll(2) == 0
      let collation = pick([Collation.binary, .nocase, .rtrim])
      func directed(_ term: some QueryExpression) -> OrderTerm {
        isDescending ? term.desc(nulls: nulls) : term.asc(nulls: nulls)
      }
      switch roll(6) {
      case 0: select = select.order { directed($0.n) }
      case 1: select = select.order { directed($0.r) }
      case 2: select = select.order { directed($0.t) }
      case 3: select = select.order { directed($0.b) }
      case 4: select = select.order { directed($0.id) }
      default:
        select = select.order {
          directed(#sql("\($0.t)", as: String.self).collate(collation))
        }
      }
    }
    return select
  }

  mutating func watched(_ db: BoutiqueDB) -> any Watched {
    typealias Number = KeptListFuzzTests.Number
    switch roll(10) {
    case 0: return WatchedList(db, filter(Item.all).count())
    case 1: return WatchedList(db, Number.where { $0.n > -100 && $0.n < 100 }.select { $0.n.sum() })
    case 2: return WatchedList(db, filter(Item.all).select { $0.id.sum() })
    default: break
    }
    var select = order(filter(Item.all).asSelect())
    if roll(2) == 0 { select = select.limit(1 + roll(12), offset: roll(2) * roll(5)) }
    if roll(12) == 0 { select = select.offset(3) }
    switch roll(5) {
    case 0: return WatchedList(db, select.select { $0.n })
    case 1: return WatchedList(db, select.select { $0.id })
    default: return WatchedList(db, select)
    }
  }
}
