import Foundation
import SQLiteConnection

/// A directory that goes away with its last user.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("sqlite-connection-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String = "test.db") -> String { "\(path)/\(name)" }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// Opens a database of this directory in WAL mode, made when there is none.
  func open(
    _ name: String = "test.db", _ change: (inout ConnectionOptions) -> Void = { _ in }
  ) throws -> Connection {
    var options = ConnectionOptions()
    options.access = .readWriteCreate
    change(&options)
    let connection = try Connection(path: file(name), options: options)
    if options.access == .readWriteCreate {
      _ = try connection.queryText("PRAGMA journal_mode = WAL")
    }
    return connection
  }
}

extension Connection {
  func script(_ sql: String) throws {
    try executeScript(sql, each: nil)
  }

  /// All rows of a query as values.
  func rows(_ sql: String) throws -> [[SQLiteValue]] {
    let statement = try prepare(sql)
    defer { statement.reset() }
    var rows: [[SQLiteValue]] = []
    while try statement.step() {
      rows.append((0..<statement.columnCount).map { statement.value($0) })
    }
    return rows
  }
}

/// Runs a body and returns the SQLite error it threw.
func sqliteError(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch {
    return error as? SQLiteError
  }
}

/// A thread that can be waited for.
final class Background: Sendable {
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    let done = done
    Thread {
      body()
      done.signal()
    }.start()
  }

  /// Waits for the end of the body, and says whether it came.
  func join() -> Bool {
    done.wait(timeout: .now() + 60) == .success
  }
}

/// A value that threads share.
final class Shared<Value: Sendable>: @unchecked Sendable {
  // Sendable because `value` is touched inside `lock` only.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  func get() -> Value { lock.withLock { value } }

  func update(_ body: (inout Value) -> Void) { lock.withLock { body(&value) } }
}
