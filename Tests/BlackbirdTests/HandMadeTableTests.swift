import Blackbird
import BoutiqueDB
import Foundation
import TestDatabase
import Testing

private enum First {
  struct Thing: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
  }
}

private enum Second {
  struct Thing: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
    @BlackbirdColumn var b: String
  }
}

private enum Third {
  struct Thing: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var a: String
    @BlackbirdColumn var b: String
    @BlackbirdColumn var c: Int
  }
}

private enum AsText {
  struct Amount: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var x: String
  }
}

private enum AsDouble {
  struct Amount: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var x: Double
  }
}

private enum AsInt {
  struct Amount: BlackbirdModel {
    @BlackbirdColumn var id: Int
    @BlackbirdColumn var x: Int
  }
}

/// Alterations that are refused, as something would be lost that nobody has allowed to go.
@Suite(.timeLimit(.minutes(1))) struct HandMadeTableTests {
  private func isRefused<T: BlackbirdModel>(
    _ type: T.Type, in db: Blackbird.Database, naming part: String
  ) async -> Bool {
    let error = await failure(of: BlackbirdTableError.self) {
      _ = try await T.resolveSchema(in: db)
    }
    guard case .impossibleMigration? = error else { return false }
    return error?.description.contains(part) == true
  }

  @Test(arguments: [
    ("x TEXT NOT NULL CHECK (length(x) < 9)", "CHECK"),
    ("x TEXT NOT NULL COLLATE NOCASE", "COLLATE"),
    ("x TEXT NOT NULL UNIQUE", "UNIQUE (x)"),
    ("x TEXT NOT NULL REFERENCES Other(k)", "REFERENCES"),
  ])
  func `what was written into a definition by hand is not lost`(
    _ column: String, _ part: String
  ) async throws {
    try await withBlackbird { db, _ in
      try await db.execute(
        "CREATE TABLE Other (k TEXT PRIMARY KEY); INSERT INTO Other VALUES ('5'); "
          + "CREATE TABLE Amount (id INTEGER PRIMARY KEY NOT NULL, \(column)); "
          + "INSERT INTO Amount VALUES (1, '5')")
      let before = try await db.schema(of: "Amount")
      let isRefused = await isRefused(AsInt.Amount.self, in: db, naming: part)
      #expect(isRefused)
      let after = try await db.schema(of: "Amount")
      #expect(after == before)
    }
  }

  @Test func `words in quotes and comments are no part of a definition`() async throws {
    try await withBlackbird { db, _ in
      try await db.execute(
        "CREATE TABLE Amount (id INTEGER PRIMARY KEY NOT NULL, -- CHECK\n"
          + "x TEXT /* COLLATE */ NOT NULL DEFAULT 'REFERENCES'); INSERT INTO Amount VALUES (1, '5')"
      )
      let done = try await AsInt.Amount.resolveSchema(in: db)
      #expect(done == .migratedTable)
    }
  }

  @Test(arguments: ["9007199254740993", "9223372036854775807", "-0.0", "007", "1e3"])
  func `a text that is no exact number stays one`(_ text: String) async throws {
    try await withBlackbird { db, _ in
      try await AsText.Amount(id: 1, x: text).write(to: db)
      let isRefused = await isRefused(AsDouble.Amount.self, in: db, naming: "x")
      #expect(isRefused)
    }
  }

  @Test func `a whole number that no Double is stays one`() async throws {
    try await withBlackbird { db, _ in
      try await AsInt.Amount(id: 1, x: .max).write(to: db)
      let isRefused = await isRefused(AsDouble.Amount.self, in: db, naming: "x")
      #expect(isRefused)
      try await db.query("UPDATE Amount SET x = ?", Int.min)
      let done = try await AsDouble.Amount.resolveSchema(in: db)
      #expect(done == .migratedTable)
    }
  }

  @Test func `a version that was left out does not drop what a newer one has added`() async throws {
    try await withBlackbird { db, _ in
      try await First.Thing(id: 1, a: "a").write(to: db)
      try await Third.Thing.resolveSchema(in: db)
      let error = await failure(of: BlackbirdTableError.self) {
        try await Second.Thing.resolveSchema(in: db)
      }
      guard case .schemaChangedByAnother? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(error?.description.contains("goingBack: true") == true)
      let columns = try await db.columns(of: "Thing")
      #expect(columns == ["id", "a", "b", "c"])
      try await Second.Thing.resolveSchema(in: db, goingBack: true)
      let now = try await db.columns(of: "Thing")
      #expect(now == ["id", "a", "b"])
    }
  }
}
