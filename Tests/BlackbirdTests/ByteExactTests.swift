import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

private let one = "\u{e9}"
private let two = "e\u{301}"

private struct Named: BlackbirdModel {
  static var tableName: String { "Named" }

  @BlackbirdColumn var id: String
  @BlackbirdColumn var value: Int
}

private struct NamedInMemory: BlackbirdModel {
  static var tableName: String { "Named" }
  static var cacheLimit: Int { 100 }

  @BlackbirdColumn var id: String
  @BlackbirdColumn var value: Int
}

private struct RetypedInMemory: BlackbirdModel {
  static var tableName: String { "Story" }
  static var cacheLimit: Int { 100 }

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
}

private struct OptionalKey: BlackbirdModel {
  @BlackbirdColumn var id: Int?
  @BlackbirdColumn var value: Int
}

private struct TwoCases: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var titlE: String
}

private struct Nameless: BlackbirdModel {
  static var tableName: String { "" }
  @BlackbirdColumn var id: Int
}

private struct Reserved: BlackbirdModel {
  static var tableName: String { "BoutiqueDB_notes" }
  @BlackbirdColumn var id: Int
}

private struct QuotedName: BlackbirdModel {
  static var tableName: String { "x`\u{301}, \"\u{301}, '\u{301}" }
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var value: Int
}

/// Texts that Swift compares by characters, and SQLite by bytes.
@Suite(.timeLimit(.minutes(1))) struct ByteExactTests {
  @Test func `a literal cannot be left by a quote with a combining mark`() async throws {
    try await withBlackbird { db, _ in
      let texts = [
        "'\u{301} AS x; DROP TABLE t", "\u{301}abc", "a'\u{301}b", "'\u{200d}", "x\r\n'", "a\0'b",
        "'", "''",
        "",
      ]
      for text in texts {
        let literal = Blackbird.Value.text(text).sqliteLiteral()
        let row = try await db.query("SELECT \(literal) AS x").first
        #expect(row?["x"] == .text(text))
        #expect(Blackbird.Value.fromSQLiteLiteral(literal) == .text(text))
      }
      for text in [
        "'", "X'", "'a'b'", "X'zz'", "X'\u{ff11}\u{ff11}'", "CAST(X AS TEXT)", "CAST( AS TEXT)",
      ] {
        #expect(Blackbird.Value.fromSQLiteLiteral(text) == nil)
      }
    }
  }

  @Test func `a table's name cannot be left by a quote with a combining mark`() async throws {
    try await withBlackbird { db, _ in
      try await QuotedName(id: 1, value: 2).write(to: db)
      let found = try await QuotedName.read(from: db, id: 1)
      #expect(found?.value == 2)
      let done = try await QuotedName.resolveSchema(in: db)
      #expect(done == [])
    }
  }

  @Test func `values are equal when their bytes are`() {
    #expect(Blackbird.Value.text(one) != .text(two))
    #expect(SQLValue.text(one) != .text(two))
    #expect(Set([SQLValue.text(one), .text(two), .text(two)]).count == 2)
    #expect(Blackbird.Value.text(two) == .text("e" + "\u{301}"))
  }

  @Test func `keys that Unicode calls equal are two rows, from memory too`() async throws {
    try await withBlackbird { db, _ in
      try await NamedInMemory(id: one, value: 1).write(to: db)
      try await NamedInMemory(id: two, value: 2).write(to: db)
      for _ in 0..<2 {
        let first = try await NamedInMemory.read(from: db, id: one)
        let second = try await NamedInMemory.read(from: db, id: two)
        #expect(first?.value == 1)
        #expect(second?.value == 2)
        let firsts = try await NamedInMemory.read(from: db, sqlWhere: "id = '\(one)'").map(\.value)
        let seconds = try await NamedInMemory.read(from: db, sqlWhere: "id = '\(two)'").map(\.value)
        #expect(firsts == [1])
        #expect(seconds == [2])
      }
    }
  }

  @Test func `lists of keys that Unicode calls equal concern every row`() async throws {
    try await withBlackbird { db, _ in
      try await Named(id: one, value: 1).write(to: db)
      try await Named(id: two, value: 2).write(to: db)
      let found = try await Named.read(from: db, primaryKeys: [one, two]).map(\.value)
      #expect(found == [1, 2])
      let changed = try await Named.update(in: db, set: [\.$value: 9], forPrimaryKeys: [one, two])
      #expect(changed == 2)
    }
  }

  @Test func `a model with a cache looks at its table before every read from the file`()
    async throws
  {
    try await withBlackbird { db, directory in
      try await RetypedInMemory(id: 1, title: "a").write(to: db)
      _ = try await RetypedInMemory.read(from: db, id: 1)
      try shell(
        directory.file("test.db"),
        "DROP TABLE Story; CREATE TABLE Story (id INTEGER PRIMARY KEY NOT NULL, title INTEGER NOT NULL); "
          + "INSERT INTO Story VALUES (1, 5)")
      let error = await failure(of: BlackbirdTableError.self) {
        _ = try await RetypedInMemory.read(from: db, id: 1)
      }
      guard case .schemaChangedByAnother? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func `a model with a cache finds its table again that another program has dropped`()
    async throws
  {
    try await withBlackbird { db, directory in
      try await RetypedInMemory(id: 1, title: "a").write(to: db)
      try shell(directory.file("test.db"), "DROP TABLE Story")
      let found = try await RetypedInMemory.read(from: db, matching: .all)
      #expect(found.isEmpty)
    }
  }

  @Test func `modify writes an instance that was assigned`() async throws {
    try await withBlackbird { db, _ in
      try await Named(id: "a", value: 1).write(to: db)
      try await Named(id: "b", value: 7).write(to: db)
      let old = try #require(try await Named.read(from: db, id: "a"))
      let other = try #require(try await Named.read(from: db, id: "b"))
      try await Named.modify(in: db, primaryKey: "a") { $0.value = 2 }
      try await Named.modify(in: db, primaryKey: "a") { $0 = old }
      let now = try await Named.read(from: db, id: "a")
      #expect(now?.value == 1)
      let error = await failure(of: BlackbirdModelError.self) {
        try await Named.modify(in: db, primaryKey: "a") { $0 = other }
      }
      guard case .argumentInvalid? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // A key that is set moves the row.
      try await Named.modify(in: db, primaryKey: "a") { $0.id = "c" }
      let ids = try await Named.read(from: db, orderBy: .ascending(\.$id)).map(\.id)
      #expect(ids == ["b", "c"])
    }
  }

  @Test func `thousands of conditions in a row are one`() async throws {
    try await withBlackbird { db, _ in
      for id in ["a", "b", "c"] { try await Named(id: id, value: 1).write(to: db) }
      var any: BlackbirdModelColumnExpression<Named> = \.$id == "a"
      var all: BlackbirdModelColumnExpression<Named> = \.$id != "a"
      for _ in 0..<8_000 {
        any = any || \.$id == "b"
        all = \.$id != "b" && all
      }
      let found = try await Named.count(in: db, matching: any)
      #expect(found == 2)
      let rest = try await Named.count(in: db, matching: all)
      #expect(rest == 1)
      let every = try await Named.count(in: db, matching: \.$id == "a" || .all)
      #expect(every == 3)
    }
  }

  @Test func `conditions too deep inside each other are a typed error`() async throws {
    try await withBlackbird { db, _ in
      var deep: BlackbirdModelColumnExpression<Named> = \.$id == "a"
      for _ in 0..<10_000 { deep = (deep || \.$id == "b") && \.$id == "c" }
      let expression = deep
      let error = await failure(of: BlackbirdModelError.self) {
        _ = try await Named.count(in: db, matching: expression)
      }
      guard case .argumentInvalid? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func `a type that SQLite could not tell apart is no model`() async throws {
    try await withBlackbird { db, _ in
      func isRefused<T: BlackbirdModel>(_ type: T.Type) async -> Bool {
        let error = await failure(of: BlackbirdTableError.self) {
          _ = try await T.resolveSchema(in: db)
        }
        if case .invalidModel? = error { return true }
        return false
      }
      #expect(await isRefused(OptionalKey.self))
      #expect(await isRefused(TwoCases.self))
      #expect(await isRefused(Nameless.self))
      #expect(await isRefused(Reserved.self))
    }
  }
}
