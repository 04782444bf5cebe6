import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// What another program sees in the file, and what it may leave there.
@Suite struct OutsideTests {
  /// Runs the `sqlite3` shell on a file.
  private func shell(_ path: String, _ sql: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, sql]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }

  @Test func `the sqlite3 shell sees what was meant`() async throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    let row = Everything(
      id: 1, bool: true, int8: -8, int16: -16, int32: -32, int64: .min, uint8: 8, uint16: 16,
      uint32: .max, uint: 64, uint64: UInt64(Int64.max), double: -.infinity, float: 0.5,
      text: "it's a 👍", data: Data([0, 255]), bytes: [],
      uuid: UUID(
        uuid: (
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 171
        )), date: date, url: URL(filePath: "/tmp/x"), decimal: 12.5, kind: .audio, level: .high,
      shape: Shape(name: "n", sides: [3]),
      uuidBytes: UUID(
        uuid: (
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 171
        )), uuidUpper: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 171)),
      unix: date, unixMilliseconds: date, julian: Date(timeIntervalSince1970: 0), iso: date,
      maybeText: nil, maybeInt: nil, maybeDouble: .nan, maybeDate: nil, maybeISO: nil,
      maybeList: [1, 2])
    let directory = try TestDirectory()
    let path = directory.file("out.db")
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { conn in
      try Everything.createTable().execute(conn)
      try Everything.insert { row }.execute(conn)
    }
    await db.close()
    let columns = Everything.tableSchema.columnNames
    let quoted = columns.map { "quote(\"\($0)\")" }.joined(separator: " || char(10) || ")
    let seen = try shell(path, "SELECT \(quoted) FROM everything")
    let values = Dictionary(
      uniqueKeysWithValues: zip(columns, seen.split(separator: "\n").map(String.init)))
    let expected = [
      "bool": "1", "int8": "-8", "int64": "-9223372036854775808", "uint32": "4294967295",
      "uint64": "9223372036854775807", "double": "-Inf", "float": "0.5", "text": "'it''s a 👍'",
      "data": "X'00FF'", "bytes": "X''", "uuid": "'01020304-0506-0708-090a-0b0c0d0e0fab'",
      "date": "1700000000.25", "url": "'file:///tmp/x'", "decimal": "'12.5'", "kind": "'audio'",
      "level": "7", "shape": #"'{"name":"n","sides":[3]}'"#,
      "uuidBytes": "X'0102030405060708090A0B0C0D0E0FAB'",
      "uuidUpper": "'01020304-0506-0708-090A-0B0C0D0E0FAB'", "unix": "1700000000",
      "unixMilliseconds": "1700000000250", "julian": "2440587.5",
      "iso": "'2023-11-14T22:13:20.250000Z'", "maybeText": "NULL", "maybeDouble": "NULL",
      "maybeList": "'[1,2]'",
    ]
    for (column, value) in expected { #expect(values[column] == value, "\(column)") }
  }

  @Test func `what the shell wrote is read, or refused with its place`() async throws {
    let directory = try TestDirectory()
    let path = directory.file("in.db")
    let db = try await BoutiqueDB.open(path: path)
    try await db.write { conn in
      try Author.createTable().execute(conn)
      try Book.createTable().execute(conn)
    }
    await db.close()
    _ = try shell(
      path,
      """
      INSERT INTO author VALUES (1, 'A', NULL);
      INSERT INTO book VALUES (1, 'T', 1, 2, 3, 0, NULL, 1700000000, '["x"]', 'audio');
      INSERT INTO book VALUES (2, 'U', 1, 2, 'many', 0, NULL, 0, '[]', 'audio');
      """)
    let again = try await BoutiqueDB.open(path: path)
    let first = try await again.read { conn in try Book.find(1).fetchOne(conn) }
    #expect(
      first
        == Book(
          id: 1, title: "T", authorID: 1, price: 2, stock: 3, isAvailable: false, rating: nil,
          publishedAt: Date(timeIntervalSince1970: 1_700_000_000), labels: ["x"], kind: .audio))
    await #expect {
      _ = try await again.read { conn in try Book.find(2).fetchOne(conn) }
    } throws: { error in
      "\(error)".contains("book.stock") && "\(error)".contains("Int")
        && "\(error)".contains("text 'many'")
    }
    await again.close()
  }
}
