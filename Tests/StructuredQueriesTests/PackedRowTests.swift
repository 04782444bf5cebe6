import BoutiqueDB
import Testing

/// Rows by name and position, which keep what was read without making strings of it.
@Suite struct PackedRowTests {
  private static let select = """
    SELECT value AS n, CASE value % 5 WHEN 0 THEN NULL WHEN 1 THEN value * 1.5 WHEN 2 THEN 'text é ' || value
      WHEN 3 THEN CAST('blob ' || value AS BLOB) ELSE '' END AS v, -value AS m
      FROM generate ORDER BY value
    """

  private static func value(_ n: Int64) -> SQLValue {
    switch n % 5 {
    case 0: .null
    case 1: .real(Double(n) * 1.5)
    case 2: .text("text é \(n)")
    case 3: .blob(Array("blob \(n)".utf8))
    default: .text("")
    }
  }

  private func inNumbers(
    _ body: @escaping @Sendable (BoutiqueConnection) throws -> Void
  ) async throws {
    let db = try await BoutiqueDB.open(url: BoutiqueDB.inMemoryURL())
    try await db.write { conn in
      try conn.execute("CREATE TABLE generate (value INTEGER PRIMARY KEY)")
      for number in 0..<500 { try conn.execute("INSERT INTO generate VALUES (?)", number) }
      try body(conn)
    }
    await db.close()
  }

  @Test func `rows keep what was read when the statement has gone on`() async throws {
    try await inNumbers { conn in
      var rows = try conn.query(Self.select)
      // Kept from a reading in which other rows were not.
      try conn.forEachRow(Self.select) { row in
        if try row.decode("n") % 7 == 0 { rows.append(row) }
      }
      rows.append(contentsOf: try [conn.queryOne(Self.select)].compactMap(\.self))
      let numbers = Array(0..<500) + (0..<500).filter { $0 % 7 == 0 } + [0]
      #expect(rows.count == numbers.count)
      for (row, number) in zip(rows, numbers) {
        let number = Int64(number)
        #expect(row.values == [.integer(number), Self.value(number), .integer(-number)])
        #expect(row[1] == Self.value(number))
        #expect(row["v"] == Self.value(number))
        #expect(row["missing"] == nil)
        #expect(try row.decode("m", as: Int.self) == -Int(number))
      }
      #expect(rows[0] == rows[500])
      #expect(rows[0].hashValue == rows[500].hashValue)
      #expect(rows[0] != rows[1])
    }
  }

  @Test func `a row much larger than others is kept whole`() async throws {
    try await inNumbers { conn in
      let long = String(repeating: "ab", count: 20_000)
      let rows = try conn.query(
        "SELECT value, CASE WHEN value % 3 = 1 THEN ? ELSE 'short' END AS t FROM generate", long)
      for (number, row) in rows.enumerated() {
        #expect(try row.decode("t") == (number % 3 == 1 ? long : "short"))
      }
    }
  }

  @Test func `what does not fit is said with its column`() async throws {
    try await inNumbers { conn in
      let row = try conn.queryOne("SELECT 'x' AS a, NULL AS b")
      for (name, index) in [("a", 0), ("b", 1)] {
        #expect {
          try row?.decode(name, as: Int.self)
        } throws: { error in
          guard case BoutiqueError.decodingFailed(let failure) = error else { return false }
          return failure.column == name
        }
        #expect(throws: BoutiqueError.self) { try row?.decode(index, as: Double.self) }
      }
      #expect(throws: BoutiqueError.self) { try row?.decode("c", as: Int.self) }
      #expect(throws: BoutiqueError.self) { try row?.decode(2, as: Int.self) }
      #expect(throws: BoutiqueError.self) { try row?.decode(-1, as: Int.self) }
    }
  }
}
