import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// A table that another program makes without any constraint, so that anything may be in it.
@Table private struct Reading: Equatable {
  let id: Int
  var label: String
  var count: Int
  var small: Int8 = 0
  var weight: Double
  var isValid: Bool
  var takenAt: Date
  @Column(as: Date.ISO8601Representation.self) var noted: Date
  var raw: Data
  var note: String?
}

/// What is in a file is what somebody else's program put there.
@Suite struct OddRowsTests {
  /// A change of the good row, in Python, and what is said of it.
  struct Oddity: CustomTestStringConvertible, Sendable {
    var column: String
    var value: String
    var expected: String
    var found: String
    var testDescription: String { "\(column) = \(value)" }

    init(_ column: String, _ value: String, expected: String, found: String) {
      self.column = column
      self.value = value
      self.expected = expected
      self.found = found
    }
  }

  private static let good = Reading(
    id: 1, label: "a", count: 3, small: -8, weight: 2.5, isValid: true,
    takenAt: Date(timeIntervalSince1970: 1_700_000_000.25),
    noted: Date(timeIntervalSince1970: 1_709_210_096), raw: Data([0, 255]), note: nil)

  /// Lets Python make the table and a row, in which one value is another one.
  private func write(_ path: String, _ column: String = "note", _ value: String = "None") throws {
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.execute("PRAGMA journal_mode = WAL")
      db.execute('''CREATE TABLE reading (id INTEGER PRIMARY KEY, label TEXT, "count" INTEGER,
        small INTEGER, weight REAL, isValid INTEGER, takenAt REAL, noted TEXT, raw BLOB, note TEXT)''')
      row = dict(id=1, label='a', count=3, small=-8, weight=2.5, isValid=True,
        takenAt=1700000000.25, noted='2024-02-29 12:34:56', raw=b'\\x00\\xff', note=None)
      row[\(column.debugDescription)] = \(value)
      db.execute("INSERT INTO reading VALUES (%s)" % ", ".join("?" * len(row)), tuple(row.values()))
      db.commit()
      db.close()
      """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, path]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  /// Reads what Python wrote.
  private func read(_ column: String, _ value: String) async throws -> [Reading] {
    let directory = try TestDirectory()
    let path = directory.file("odd.db")
    try write(path, column, value)
    let db = try await BoutiqueDB.open(path: path)
    do {
      let rows = try await db.read { conn in try Reading.all.fetchAll(conn) }
      await db.close()
      return rows
    } catch {
      await db.close()
      throw error
    }
  }

  static let oddities = [
    Oddity("count", "'many'", expected: "Int", found: "text 'many'"),
    Oddity("count", "2.5", expected: "Int", found: "real 2.5"),
    Oddity("count", "1e300", expected: "Int", found: "real 1e+300"),
    Oddity("count", "b'3'", expected: "Int", found: "blob of 1 bytes"),
    Oddity("count", "None", expected: "Int", found: "NULL"),
    Oddity("small", "128", expected: "Int8", found: "integer 128"),
    Oddity("label", "b'a'", expected: "String", found: "blob of 1 bytes"),
    Oddity("label", "None", expected: "String", found: "NULL"),
    Oddity("weight", "'heavy'", expected: "Double", found: "text 'heavy'"),
    // SQLite keeps a NaN as NULL.
    Oddity("weight", "float('nan')", expected: "Double", found: "NULL"),
    Oddity("isValid", "2", expected: "Bool", found: "integer 2"),
    Oddity("isValid", "'true'", expected: "Bool", found: "text 'true'"),
    Oddity("takenAt", "'2024-02-29'", expected: "Date", found: "text '2024-02-29'"),
    Oddity("noted", "'yesterday'", expected: "Date", found: "text 'yesterday'"),
    Oddity("noted", "'2024-02-30'", expected: "Date", found: "text '2024-02-30'"),
    // A number becomes a text in a column of texts.
    Oddity("noted", "1709210096", expected: "Date", found: "text '1709210096'"),
    Oddity("raw", "'bytes'", expected: "Data", found: "text 'bytes'"),
    Oddity("raw", "7", expected: "Data", found: "integer 7"),
    Oddity("note", "b''", expected: "String", found: "blob of 0 bytes"),
  ]

  @Test(arguments: oddities)
  func `a value that does not fit is refused with its place`(_ odd: Oddity) async throws {
    await #expect {
      try await read(odd.column, odd.value)
    } throws: { error in
      guard case BoutiqueError.decodingFailed(let failure) = error else { return false }
      let text = "column reading.\(odd.column): expected \(failure.expected), found \(odd.found)"
      #expect("\(failure)" == text)
      #expect("\(error)".contains(text))
      return failure.table == "reading" && failure.column == odd.column
        && failure.expected.contains(odd.expected) && failure.found == odd.found
    }
  }

  @Test func `values that fit are read, of whatever storage class they are`() async throws {
    #expect(try await read("note", "None") == [Self.good])
    var row = Self.good
    row.note = "n"
    #expect(try await read("note", "'n'") == [row])
    // What SQLite converts when a column has a type.
    #expect(try await read("count", "'3'") == [Self.good])
    #expect(try await read("count", "3.0") == [Self.good])
    #expect(try await read("weight", "'2.5'") == [Self.good])
    row = Self.good
    row.label = "7"
    #expect(try await read("label", "7") == [row])
    row = Self.good
    row.weight = 2
    #expect(try await read("weight", "2") == [row])
    row = Self.good
    row.isValid = false
    #expect(try await read("isValid", "0") == [row])
    row = Self.good
    row.takenAt = Date(timeIntervalSince1970: 1_700_000_000)
    #expect(try await read("takenAt", "1700000000") == [row])
    row = Self.good
    row.noted = Date(timeIntervalSince1970: 1_709_164_800)
    #expect(try await read("noted", "'2024-02-29'") == [row])
    #expect(try await read("noted", "'2024-02-29T12:34:56.000Z'") == [Self.good])
  }

  @Test func `rows before a row that does not fit are read`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("odd.db")
    try write(path)
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { conn in
      try conn.execute(
        "INSERT INTO reading SELECT 2, label, 'x', small, weight, isValid, takenAt, noted, raw, note FROM reading"
      )
    }
    try await db.read { conn in
      var seen: [Reading] = []
      #expect(throws: BoutiqueError.self) {
        try Reading.order { $0.id }.forEach(conn) { seen.append($0) }
      }
      #expect(seen == [Self.good])
      // What is not read does not matter.
      let labels = try Reading.select { $0.label }.fetchAll(conn)
      #expect(labels == ["a", "a"])
    }
    await db.close()
  }
}
