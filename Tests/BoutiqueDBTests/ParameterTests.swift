import BoutiqueDB
import TestDatabase
import Testing

/// Values on their way into statements: they are lent to SQLite, not copied.
@Suite struct ParameterTests {
  private static let plan = BoutiqueMigrationPlan {
    BoutiqueMigration("v1") {
      try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)")
    }
  }

  /// Of each class, empty, with NUL, small enough for no memory of its own and larger than what statements keep.
  private static let values: [SQLValue] = [
    .null, .integer(.min), .integer(7), .real(-0.5), .text(""), .text("a\0b"), .text("Größe 🎈"),
    .text(String(repeating: "long ", count: 20_000)), .blob([]), .blob([0, 1, 255]),
    .blob([UInt8](repeating: 7, count: 100_000)), .text("short again"),
  ]

  @Test func `all values arrive as they are, whatever was bound before them`() async throws {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      let values = Self.values
      try await db.write { connection in
        let statement = try connection.prepare("INSERT INTO t (a, b, c) VALUES (?, ?, ?)")
        for index in values.indices {
          let row = (0..<3).map { values[(index + 5 * $0) % values.count] }
          try statement.run(arguments: row)
          try connection.execute("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", arguments: row)
          let (a, b, c) = (row[0], row[1], row[2])
          try connection.execute(#sql("INSERT INTO t (a, b, c) VALUES (\(a), \(b), \(c))"))
        }
      }
      let found = try await db.read {
        try $0.query("SELECT a, b, c FROM t ORDER BY id").map(\.values)
      }
      #expect(found.count == 3 * values.count)
      for (place, row) in found.enumerated() {
        let index = place / 3
        #expect(row == (0..<3).map { values[(index + 5 * $0) % values.count] })
      }
    }
  }

  @Test func `a statement inside itself does not touch the values of the outer one`() async throws {
    try await withTestDatabase { db, _ in
      let sql = "SELECT ?1 || value FROM json_each('[1, 2, 3]')"
      let seen = try await db.read { connection in
        var seen: [SQLValue] = []
        try connection.forEachRow(sql, arguments: ["outer and longer than a word "]) { row in
          seen.append(row[0])
          seen += try connection.query(sql, "inner, which is another text ").map { $0[0] }
        }
        return seen
      }
      #expect(seen.count == 12)
      #expect(
        seen.filter { $0 == .text("outer and longer than a word 3") }.count == 1)
      #expect(seen.filter { $0 == .text("inner, which is another text 2") }.count == 3)
    }
  }

  @Test func `a value too many or too few is an error, and the statement good for the next`()
    async throws
  {
    try await withTestDatabase(migrations: Self.plan) { db, _ in
      try await db.write { connection in
        let statement = try connection.prepare("INSERT INTO t (a) VALUES (?)")
        for wrong: [SQLValue] in [[], [.text("one"), .text("two")]] {
          #expect(throws: BoutiqueError.self) { try statement.run(arguments: wrong) }
        }
        try statement.run("right")
      }
      #expect(
        try await db.read { try $0.query("SELECT a FROM t").map { $0[0] } } == [.text("right")])
    }
  }
}
