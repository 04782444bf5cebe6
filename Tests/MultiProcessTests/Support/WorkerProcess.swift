import Glibc
import ProcessHarness
import Synchronization
import Testing

/// An error that a worker's command ended with.
struct WorkerError: Error, CustomStringConvertible {
  /// The name of the error's case.
  let name: String
  /// The error's own text, as a user would read it.
  let message: String
  /// SQLite's extended result code, where there is one.
  let code: Int?
  /// Who held the lock, where the error says so.
  let holder: JSONValue?

  init(_ event: JSONValue) {
    name = event["event"] == "cancelled" ? "cancelled" : event["error"]?.string ?? "unnamed"
    message = event["message"]?.string ?? ""
    code = event["code"]?.int
    holder = event["holder"]
  }

  var description: String { "\(name): \(message)" }
}

/// A worker seen from a test; its commands are those of `Tests/Support/worker/Worker.swift`.
final class WorkerProcess: Sendable {
  let child: ChildProcess
  private let lastID = Mutex(0)

  init(_ child: ChildProcess) { self.child = child }

  var processID: pid_t { child.processID }

  /// Sends a command and returns its number at once.
  @discardableResult
  func begin(_ verb: String, _ members: [String: JSONValue] = [:]) -> Int {
    let id = lastID.withLock { last in
      last += 1
      return last
    }
    var members = members
    members["do"] = .text(verb)
    members["id"] = .integer(Int64(id))
    child.send((try? JSONValue.object(members).line()) ?? "")
    return id
  }

  /// Waits for the end of a command; throws its error.
  @discardableResult
  func end(of id: Int, within bound: Duration = ChildProcess.usualBound) async throws -> JSONValue {
    let event = try await child.nextMessage("the end of command \(id)", within: bound) {
      $0["re"]?.int == id && endings.contains($0["event"])
    }
    guard event["event"] == "done" else { throw WorkerError(event) }
    return event
  }

  /// Performs a command to its end; throws its error.
  @discardableResult
  func perform(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await end(of: begin(verb, members))
  }

  /// Waits for the next event of that name of a running command; throws the command's error if it
  /// ends before.
  func event(
    _ name: JSONValue, of id: Int, within bound: Duration = ChildProcess.usualBound,
    where wanted: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
  ) async throws -> JSONValue {
    let event = try await child.nextMessage("\(name) of command \(id)", within: bound) {
      $0["re"]?.int == id
        && ($0["event"] == name && wanted($0) || endings.contains($0["event"]))
    }
    if event["event"] == "done" { throw child.failure(.refused("it ended"), "\(name)") }
    guard event["event"] == name else { throw WorkerError(event) }
    return event
  }

  /// Takes the events of that name that have arrived.
  func events(_ name: JSONValue, of id: Int) -> [JSONValue] {
    child.takeMessages { $0["re"]?.int == id && $0["event"] == name }
  }

  // MARK: Frequent commands

  func execute(_ sql: String) async throws { try await perform("exec", ["sql": .text(sql)]) }

  /// Returns the rows of a query.
  func query(_ sql: String) async throws -> JSONValue {
    try await perform("query", ["sql": .text(sql)])["rows"] ?? .null
  }

  /// Returns the integers of a query's first row.
  func integers(_ sql: String) async throws -> [Int] {
    try await query(sql).list?.first?.list?.compactMap(\.int) ?? []
  }

  /// Cancels a command and waits for its end.
  func cancel(_ id: Int) async throws {
    begin("cancel", ["of": .integer(Int64(id))])
    do { try await end(of: id) } catch let error as WorkerError where error.name == "cancelled" {}
  }

  /// Starts to observe a query and returns the command's number and the first value.
  func observe(_ sql: String) async throws -> (Int, JSONValue) {
    let id = begin("observe", ["sql": .text(sql)])
    return (id, try await value(of: id))
  }

  /// Waits for the next value of an observation.
  func value(of id: Int) async throws -> JSONValue {
    try await event("value", of: id)["rows"] ?? .null
  }

  /// Takes values of an observation until one is wanted, and returns all of them.
  func values(
    of id: Int, until wanted: @escaping @Sendable (JSONValue) -> Bool
  ) async throws -> [JSONValue] {
    var all: [JSONValue] = []
    while true {
      let value = try await value(of: id)
      all.append(value)
      if wanted(value) { return all }
    }
  }
}

// `#expect` shows the value of what it compares only when that is not awaited; these do.
extension WorkerProcess {
  /// Fails the test unless the query gives these rows.
  func expectRows(
    _ sql: String, _ expected: JSONValue, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await query(sql)
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  /// Fails the test unless the query's first row has these integers.
  func expectIntegers(
    _ sql: String, _ expected: [Int], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await integers(sql)
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  /// Fails the test unless the observation's next value is this one.
  func expectValue(
    of id: Int, _ expected: JSONValue, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await value(of: id)
    #expect(found == expected, sourceLocation: sourceLocation)
  }
}

private let endings: Set<JSONValue?> = ["done", "failed", "cancelled"]
