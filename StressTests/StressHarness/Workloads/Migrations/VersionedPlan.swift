import BoutiqueDB
import Glibc
import StressHistory

/// The migrations of a program at a version: number `n` is the same in all versions.
enum VersionedPlan {
  /// How many there are; a run that comes so far goes on with the newest.
  static let limit = 300

  static func plan(version: Int) -> BoutiqueMigrationPlan {
    BoutiqueMigrationPlan((1...version).map(migration))
  }

  private static func migration(_ number: Int) -> BoutiqueMigration {
    BoutiqueMigration("version \(number)") { connection in
      if number == 1 {
        try connection.executeScript(
          """
          CREATE TABLE done (version INTEGER NOT NULL);
          CREATE TABLE sum (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
          INSERT INTO sum VALUES (1, 0), (2, 0);
          """)
      }
      try connection.execute("CREATE TABLE first\(number) (id INTEGER PRIMARY KEY, text TEXT)")
      rest(number)
      try connection.execute("UPDATE sum SET value = value + 100 WHERE id = 1")
      rest(number + 1)
      try connection.execute("UPDATE sum SET value = value - 100 WHERE id = 2")
      try connection.execute("CREATE TABLE second\(number) (id INTEGER PRIMARY KEY, text TEXT)")
      rest(number + 2)
      try connection.execute("INSERT INTO done VALUES (?)", number)
    }
  }

  /// Takes some time, so that others find the migration under way and a signal can end it there.
  ///
  /// On the library's own thread, which may block.
  private static func rest(_ number: Int) { usleep(UInt32(number % 5) * 1500) }
}

/// What a snapshot shows of the migrations.
struct VersionState: Sendable {
  var version: Int
  var faults: [Violation] = []
  /// What was seen, for the history.
  var seen: [Step] = []

  /// What each opening finds, in the history.
  static let key = "version"

  init(_ connection: BoutiqueConnection) throws {
    let names = try connection.query("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .map { try $0.decode("name", as: String.self) }
    let first = names.filter { $0.hasPrefix("first") }.count
    let second = names.filter { $0.hasPrefix("second") }.count
    version = first
    seen = [
      Step(.read, Self.key, .integer(Int64(first))),
      Step(.read, "second tables", .integer(Int64(second))),
    ]
    guard names.contains("done"), names.contains("sum") else {
      if first + second > 0 {
        faults = [Violation(check: "half a migration", text: "tables are there without the first")]
      }
      return
    }
    let done = try connection.query("SELECT version FROM done ORDER BY version")
      .map { try $0.decode("version", as: Int.self) }
    let known = try connection.query("SELECT id FROM boutiquedb_migration").count
    let sum = try connection.query("SELECT value FROM sum").reduce(0) {
      $0 + (try $1.decode("value", as: Int64.self))
    }
    seen += [
      Step(.read, "done", .list(done.map(Int64.init))),
      Step(.read, "in the history", .integer(Int64(known))), Step(.read, "sum", .integer(sum)),
    ]
    if Set(done).count != done.count {
      faults.append(
        Violation(check: "migration twice", text: "the migrations that ran are \(done)"))
    }
    if first != second || done.count != first || known != first || sum != 0 {
      faults.append(
        Violation(
          check: "half a migration",
          text: "\(first) first tables, \(second) second tables, \(done.count) notes, \(known) in "
            + "the history, and the rows add up to \(sum) instead of 0"))
    }
  }
}
