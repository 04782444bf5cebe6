import Foundation
import ProcessHarness
import Synchronization
import TestDatabase
import Testing

/// What must hold when several processes have one store.
///
/// Serialized: each test has the machine's few cores to itself.
@Suite(.serialized, .timeLimit(.minutes(5))) enum StoresOfSeveralProcesses {}

/// The engines that processes can share.
enum StoreEngineName: String, CaseIterable, Sendable {
  case sqlite
  case disk
}

/// The stage of a test: a directory for the store, and processes that end with the test.
struct StoreScene: Sendable {
  let directory: String
  let children: ChildProcesses
  let engine: StoreEngineName

  /// Starts a worker and opens the store in it.
  func opened(_ label: String, _ members: [String: JSONValue] = [:]) async throws -> StoreWorker {
    let worker = try await self.worker()
    try await open(in: worker, label, members)
    return worker
  }

  /// Starts a worker without a store.
  func worker() async throws -> StoreWorker {
    try await ready(children.start(built: "boutique-test-worker"))
  }

  func ready(_ child: ChildProcess) async throws -> StoreWorker {
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    return StoreWorker(child)
  }

  func open(
    in worker: StoreWorker, _ label: String, _ members: [String: JSONValue] = [:]
  ) async throws {
    try await worker.perform("store.open", place(label).merging(members) { _, new in new })
  }

  /// What says where the store is.
  func place(_ label: String = "looker") -> [String: JSONValue] {
    [
      "directory": .text(directory + "/store"), "engine": .text(engine.rawValue),
      "label": .text(label),
    ]
  }

  /// Returns what lies on the disk, as a process of its own finds it.
  func onDisk() async throws -> [[String]] {
    let looker = try await worker()
    defer { looker.child.kill() }
    return StoreWorker.pairs(try await looker.perform("store.onDisk", place()))
  }
}

/// Gives a test a directory and processes of its own.
func withStoreScene(
  _ engine: StoreEngineName = .sqlite, _ body: (StoreScene) async throws -> Void
) async throws {
  let directory = try TestDirectory()
  try await withChildProcesses { children in
    try await body(StoreScene(directory: directory.path, children: children, engine: engine))
  }
}

/// An error that a worker's command ended with.
struct StoreWorkerError: Error, CustomStringConvertible {
  let name: String
  let message: String

  var description: String { "\(name): \(message)" }
}

/// A worker seen from a test; its commands are those of `Worker+BoutiqueStore.swift`.
final class StoreWorker: Sendable {
  let child: ChildProcess
  private let lastID = Mutex(0)

  init(_ child: ChildProcess) { self.child = child }

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
  func end(of id: Int, within bound: Duration = .seconds(60)) async throws -> JSONValue {
    let event = try await child.nextMessage("the end of command \(id)", within: bound) {
      $0["re"]?.int == id && ["done", "failed", "cancelled"].contains($0["event"])
    }
    guard event["event"] == "done" else {
      throw StoreWorkerError(
        name: event["error"]?.string ?? "cancelled", message: event["message"]?.string ?? "")
    }
    return event
  }

  /// Performs a command to its end; throws its error.
  @discardableResult
  func perform(_ verb: String, _ members: [String: JSONValue] = [:]) async throws -> JSONValue {
    try await end(of: begin(verb, members))
  }

  /// Waits for the next event of that name of a command.
  func event(_ name: JSONValue, of id: Int) async throws -> JSONValue {
    try await child.nextMessage("\(name) of command \(id)", within: .seconds(60)) {
      $0["re"]?.int == id && $0["event"] == name
    }
  }

  // MARK: Frequent commands

  func insert(_ items: [[String]]) async throws {
    try await perform("store.insert", ["items": Self.list(items)])
  }

  func remove(_ ids: [String]) async throws {
    try await perform("store.remove", ["ids": .list(ids.map { .text($0) })])
  }

  /// Returns the items in the worker's memory.
  func items() async throws -> [[String]] { Self.pairs(try await perform("store.items")) }

  /// Waits until these are the items in the worker's memory.
  func waitFor(_ items: [[String]]) async throws {
    try await perform("store.waitFor", ["items": Self.list(items)])
  }

  static func list(_ items: [[String]]) -> JSONValue {
    .list(items.map { .list($0.map { .text($0) }) })
  }

  static func pairs(_ answer: JSONValue) -> [[String]] {
    answer["items"]?.list?.map { $0.list?.compactMap(\.string) ?? [] } ?? []
  }
}
