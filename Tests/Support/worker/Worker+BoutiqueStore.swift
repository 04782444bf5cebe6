import Boutique
import BoutiqueDB
import Foundation
import Observation
import ProcessHarness

/// An item of the stores that workers have.
struct WorkerItem: Codable, Sendable, Equatable {
  var id: String
  var text: String

  /// As tests write it: `["id", "text"]`.
  init?(_ json: JSONValue) {
    guard let id = json.list?.first?.string, let text = json.list?.last?.string else { return nil }
    self.id = id
    self.text = text
  }

  init(id: String, text: String) {
    self.id = id
    self.text = text
  }

  var json: JSONValue { [.text(id), .text(text)] }
}

@MainActor private var currentStore: Store<WorkerItem>?

extension Worker {
  @MainActor
  private func store() throws -> Store<WorkerItem> {
    guard let currentStore else { throw Misuse(description: "no store is open") }
    return currentStore
  }

  /// The commands whose names begin with `store.`.
  @MainActor
  func performOnStore(_ command: Command) async throws -> [String: JSONValue] {
    func items(_ name: String = "items") -> [WorkerItem] {
      command[name]?.list?.compactMap { WorkerItem($0) } ?? []
    }
    switch command.verb {
    case "store.open": try await openStore(command)
    case "store.insert": try await store().insert(items())
    case "store.remove":
      try await store().remove(command.texts("ids").map { WorkerItem(id: $0, text: "") })
    case "store.removeAll": try await store().removeAll()
    case "store.replace":
      // One chain: items go, others come.
      try await store().remove(items("old")).insert(items()).run()
    case "store.items":
      return ["items": .list(try store().items.map(\.json))]
    case "store.onDisk":
      let disk = try await (try engine(command)).readAllDataAndKeys()
      let decoded = try disk.map { try JSONDecoder().decode(WorkerItem.self, from: $0.data) }
      return ["items": .list(decoded.map(\.json))]
    case "store.waitFor": try await waitForItems(command)
    case "store.events": try await tellEvents(command)
    case "store.watch": try await watch(command)
    case "store.insertEach": try await insertEach(command)
    case "store.batches": try await insertBatches(command)
    case "store.churn": try await churn(command)
    default: throw Misuse(description: "no such command: \(command.verb)")
    }
    return [:]
  }

  private nonisolated func engine(_ command: Command) throws -> any SharedStorageEngine {
    let directory = FileManager.Directory(url: URL(filePath: try command.text("directory")))
    if command["engine"]?.string == "disk" { return DiskStorageEngine(directory: directory) }
    var configuration = BoutiqueConfiguration()
    if let label = command["label"]?.string { configuration.label = label }
    if let poll = command.milliseconds("poll") { configuration.cdcPollInterval = poll }
    return SQLiteStorageEngine(directory: directory, configuration: configuration)
  }

  /// `store.open`: directory; engine (`sqlite` or `disk`), label, poll (milliseconds).
  @MainActor
  private func openStore(_ command: Command) async throws {
    currentStore = try await Store<WorkerItem>(
      storage: try engine(command), cacheIdentifier: \.id)
  }

  /// `store.waitFor`: ends when the items are `items`, or when there are `count`.
  @MainActor
  private func waitForItems(_ command: Command) async throws {
    let wanted = command["items"]?.list?.compactMap { WorkerItem($0) }
    let count = command["count"]?.int
    let store = try store()
    for await items in Observations({ store.items }) {
      if let wanted, items == wanted { return }
      if let count, items.count == count { return }
    }
    try Task.checkCancellation()
  }

  /// `store.events`: emits `event` for each, with `operation`, `items`, `isExternal` and `origin`.
  @MainActor
  private func tellEvents(_ command: Command) async throws {
    for await event in try store().events {
      let origin: JSONValue =
        switch event.origin {
        case .process(let pid, let label): ["pid": .integer(Int64(pid)), "label": .text(label)]
        default: .text("\(event.origin)")
        }
      command.emit(
        "event",
        [
          "operation": .text(event.operation.rawValue), "items": .list(event.items.map(\.json)),
          "isExternal": .bool(event.isExternal), "origin": origin,
        ])
    }
    try Task.checkCancellation()
  }

  /// `store.watch`: looks at every state that can be seen until one item has the id `end`.
  ///
  /// Among the items whose ids begin with `prefix` there must always be `count`, all with one text, in one of
  /// two orders at most: emits `torn` otherwise, and `seen` with the number of states at the end.
  @MainActor
  private func watch(_ command: Command) async throws {
    let store = try store()
    let prefix = try command.text("prefix")
    let count = try command.integer("count")
    var seen = 0
    for await items in Observations({ store.items }) {
      seen += 1
      let group = items.filter { $0.id.hasPrefix(prefix) }
      if !group.isEmpty, group.count != count || Set(group.map(\.text)).count != 1 {
        command.emit("torn", ["items": .list(group.map(\.json))])
      }
      if items.contains(where: { $0.id == "end" }) { break }
    }
    command.emit("seen", ["count": .integer(Int64(seen))])
  }

  /// `store.insertEach`: prefix, count; inserts items one after another.
  @MainActor
  private func insertEach(_ command: Command) async throws {
    let prefix = try command.text("prefix")
    let store = try store()
    for number in 0..<(try command.integer("count")) {
      try await store.insert(WorkerItem(id: "\(prefix)\(number)", text: prefix))
    }
  }

  /// `store.batches`: size, prefix; replaces all items of the prefix by others, again and again.
  ///
  /// Emits `batch` with its number after each; ends after `count` of them, if given.
  @MainActor
  private func insertBatches(_ command: Command) async throws {
    let size = try command.integer("size")
    let prefix = try command.text("prefix")
    let store = try store()
    var old: [WorkerItem] = []
    for number in 0..<(command["count"]?.int ?? .max) {
      try Task.checkCancellation()
      // Other ids each time, so that half of a batch shows.
      let new = (0..<size).map {
        WorkerItem(id: "\(prefix)\(number % 2)-\($0)", text: "\(number)")
      }
      try await store.remove(old).insert(new).run()
      old = new
      command.emit("batch", ["number": .integer(Int64(number))])
    }
  }

  /// `store.churn`: seed, count; inserts, replaces and removes at random among `keys` ids.
  ///
  /// Several operations are on their way at a time.
  @MainActor
  private func churn(_ command: Command) async throws {
    let store = try store()
    let keys = try command.integer("keys")
    var state = UInt64(try command.integer("seed"))
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<(try command.integer("count")) {
        if number >= 8 { try await group.next() }
        let items = (0...random(4)).map { _ in
          WorkerItem(id: "\(random(keys))", text: "\(state)")
        }
        switch random(8) {
        case 0: group.addTask { try await store.removeAll() }
        case 1, 2: group.addTask { try await store.remove(items) }
        case 3: group.addTask { try await store.remove(items).insert(items).run() }
        default: group.addTask { try await store.insert(items) }
        }
      }
      try await group.waitForAll()
    }
  }
}
