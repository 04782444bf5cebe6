import Blackbird
import Foundation
import TestDatabase
import Testing

private struct OtherNamed: BlackbirdModel {
  static let tableName = "OtherTable"
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var value: String
}

private struct OtherNamedBefore: BlackbirdModel {
  static let tableName = "OtherTable"
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var value: Int
}

private struct Unfit: BlackbirdModel {
  static let tableName = "OtherTable"
  static let primaryKey: [BlackbirdColumnKeyPath] = [\.$value]
  @BlackbirdColumn var value: Int
  @BlackbirdColumn var url: URL
}

/// What errors say, and that they say it wherever Foundation asks.
@Suite(.timeLimit(.minutes(1))) struct ErrorTextTests {
  @Test func `an error's localized description is its own text`() async throws {
    let errors: [any Error] = [
      Blackbird.Database.Error.databaseIsClosed,
      Blackbird.SQLiteError(code: 1, extendedCode: 1, message: "what happened"),
      Blackbird.Error.cancelTransaction,
      Blackbird.Value.Error.cannotConvertToValue,
      BlackbirdModelError.primaryKeyNotFound(value: [1]),
      BlackbirdTableError.notResolved(type: "Post"),
      BlackbirdLiveError.noDatabase,
    ]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
  }

  @Test func `refused statements name what this product has instead`() async throws {
    try await withBlackbird { db, _ in
      let begin = try await databaseError { try await db.execute("BEGIN") }
      #expect("\(String(describing: begin))".contains("transaction { core in"))
      let attach = try await databaseError { try await db.execute("ATTACH ':memory:' AS x") }
      #expect("\(String(describing: attach))".contains("Blackbird.Database of its own"))
    }
  }

  @Test func `an error in a later statement names it once`() async throws {
    try await withBlackbird { db, _ in
      let error = try await databaseError {
        try await db.execute("CREATE TABLE a (x); INSERT INTO nosuch VALUES (1)")
      }
      let text = try #require(error).description
      #expect(text.components(separatedBy: "INSERT INTO nosuch").count == 2, "\(text)")
    }
  }

  @Test func `a call with another database than its core's is refused`() async throws {
    try await withBlackbird { db, _ in
      let other = try Blackbird.Database.inMemoryDatabase()
      let error = try await databaseError {
        try await db.transaction { core in
          try OtherNamed(id: 1, value: "x").writeIsolated(to: other, core: core)
        }
      }
      guard case .databaseIsNotThatOfCore? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      await other.close()
    }
  }

  @Test func `a type goes back to an earlier shape only on purpose, and the error says how`()
    async throws
  {
    try await withBlackbird { db, _ in
      try await OtherNamedBefore(id: 1, value: 12).write(to: db)
      #expect(try await OtherNamed.resolveSchema(in: db) == .migratedTable)
      let error = await failure(of: BlackbirdTableError.self) {
        _ = try await OtherNamedBefore.read(from: db)
      }
      let text = try #require(error).description
      #expect(text.contains("the table OtherTable") && text.contains("goingBack: true"), "\(text)")
      #expect(try await OtherNamedBefore.resolveSchema(in: db, goingBack: true) == .migratedTable)
      #expect(try await OtherNamedBefore.read(from: db).map(\.value) == [12])
    }
  }

  @Test func `everything that stands in the way of a change is named at once`() async throws {
    try await withBlackbird { db, _ in
      try await OtherNamed(id: 1, value: "a dozen").write(to: db)
      let error = await failure(of: BlackbirdTableError.self) {
        try await Unfit.resolveSchema(in: db)
      }
      let text = try #require(error).description
      #expect(text.contains("1 row holds a value in the column id"), "\(text)")
      #expect(text.contains("1 row holds a value in the column value"), "\(text)")
      #expect(text.contains("column url is new"), "\(text)")
    }
  }
}
