import Blackbird
import BoutiqueDB
import Foundation
import Synchronization
import TestDatabase
import Testing

struct Post: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var title: String
  @BlackbirdColumn var url: String?
}

struct Vote: BlackbirdModel {
  static var primaryKey: [BlackbirdColumnKeyPath] { [\.$post, \.$user] }

  @BlackbirdColumn var post: Int
  @BlackbirdColumn var user: String
  @BlackbirdColumn var count: Int
}

/// The tables as the models have them.
let changeSchema = """
  CREATE TABLE Post (id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL, url TEXT);
  CREATE TABLE Vote (post INTEGER NOT NULL, user TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (post, user)) WITHOUT ROWID;
  CREATE TABLE Other (a INTEGER, name TEXT PRIMARY KEY, b TEXT);
  """

/// Gives a test a database in a file, with tables, and the file's path.
func withDatabase(
  _ options: Blackbird.Database.Options = [], schema: String = changeSchema,
  configuration: BoutiqueConfiguration = BoutiqueConfiguration(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Blackbird.Database, String) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  let path = directory.file("app.db")
  let db = try await Blackbird.Database.open(
    path: path, options: options, configuration: configuration)
  do {
    if !schema.isEmpty { try await db.execute(schema) }
    try await body(db, path)
  } catch {
    await db.close()
    throw error
  }
  await db.close()
  try TestDatabaseCheck.nothingIsLeftOpen(in: directory.path)
  try await TestDatabaseCheck.isWhole(path: path)
}

/// Runs SQL in the `sqlite3` shell.
func shell(_ path: String, _ sql: String) throws {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["sqlite3", "-bail", "-cmd", ".timeout 30000", path, sql]
  try process.run()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
}

/// What a closure was called with, to be waited for.
final class Received<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var values: [Value] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var values: [Value] { state.withLock(\.values) }

  func add(_ value: Value) {
    let due = state.withLock { state in
      state.values.append(value)
      let due = state.waiting.filter { $0.count <= state.values.count }
      state.waiting.removeAll { $0.count <= state.values.count }
      return due
    }
    for (_, continuation) in due { continuation.resume() }
  }

  /// Waits until there are so many; the test's time limit is the bound.
  @discardableResult
  func wait(for count: Int) async -> [Value] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.values.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return values
  }
}

/// A number that any thread may raise.
final class Counter: Sendable {
  private let value = Atomic(0)
  var count: Int { value.load(ordering: .sequentiallyConsistent) }
  func add() { value.add(1, ordering: .sequentiallyConsistent) }
  func raise(to number: Int) { value.max(number, ordering: .sequentiallyConsistent) }
}

/// Waits until a condition holds; fails after a bound.
func eventually(
  _ what: String, isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let clock = ContinuousClock()
  let bound = clock.now + .seconds(30)
  while clock.now < bound {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("it never came about that \(what)")
}
