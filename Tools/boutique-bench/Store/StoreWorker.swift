import Boutique
import BoutiqueDB
import Foundation
import SQLiteConnection
import SharedFileCoordination

/// Who keeps the items of the store benchmark.
enum StoreVariant: String, CaseIterable, Codable, Sendable {
  /// An array and plain SQLite.
  case plain
  /// A store.
  case store

  /// What tables call it.
  var title: String { self == .plain ? "plain SQLite" : "store" }
}

/// What is done to the items.
enum StoreWork: String, CaseIterable, Codable, Sendable {
  case insertMany = "insert all at once"
  case load = "load all"
  case insertOne = "insert one by one"
  case replaceOne = "replace one by one"
  case removeOne = "remove one by one"

  /// Whether it is done to all items together.
  var isMany: Bool { self == .insertMany || self == .load }
}

/// What the worker of the store benchmark does.
struct StoreOrders: Codable, Sendable {
  var path: String
  var variant: StoreVariant
  var items: Int
  var singles: Int
  /// Whether it is the process that inserts; the other one loads and goes on from there.
  var isFirst: Bool
}

/// An item of the store benchmark.
struct BenchItem: Codable, Sendable, Identifiable {
  var id: String
  var text: String
  var number: Int
  var time: Date

  init(_ number: Int, text: String = "a note of ordinary length") {
    id = "item-\(number)"
    self.text = text
    self.number = number
    time = Date(timeIntervalSince1970: Double(number))
  }
}

/// Does each kind of work in turn and tells how long it took.
struct StoreWorker: Sendable {
  let orders: StoreOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    _ = try await link.awaitStart()
    switch orders.variant {
    case .plain:
      let orders = orders
      return try await OwnThread.run { try PlainItems(path: orders.path).run(orders) }
    case .store: return try await store()
    }
  }

  @MainActor
  private func store() async throws -> [String: [Int64]] {
    let place = URL(filePath: orders.path)
    let engine = SQLiteStorageEngine(
      directory: .init(url: place.deletingLastPathComponent()),
      databaseFilename: place.deletingPathExtension().lastPathComponent)
    var figures: [String: [Int64]] = [:]
    func measure(_ work: StoreWork, _ body: () async throws -> Void) async throws {
      let start = Expense.now()
      try await body()
      figures[work.rawValue] = Self.figures(since: start)
    }
    if orders.isFirst {
      let store = try await Store<BenchItem>(storage: engine)
      let items = (0..<orders.items).map { BenchItem($0) }
      try await measure(.insertMany) { try await store.insert(items) }
      try Self.check(store.items.count, orders.items)
      await (try engine.database()).close()
      return figures
    }
    var loaded: Store<BenchItem>?
    try await measure(.load) { loaded = try await Store<BenchItem>(storage: engine) }
    guard let store = loaded else { return figures }
    try Self.check(store.items.count, orders.items)
    let new = (0..<orders.singles).map { BenchItem(orders.items + $0) }
    try await measure(.insertOne) { for item in new { try await store.insert(item) } }
    try Self.check(store.items.count, orders.items + orders.singles)
    let replacements = orders.spread.map { BenchItem($0, text: "another text") }
    try await measure(.replaceOne) { for item in replacements { try await store.insert(item) } }
    try await measure(.removeOne) { for item in replacements { try await store.remove(item) } }
    try Self.check(store.items.count, orders.items + orders.singles - Set(orders.spread).count)
    await (try engine.database()).close()
    return figures
  }

  /// Elapsed and processor time, in nanoseconds.
  static func figures(since start: Expense) -> [Int64] {
    let figures = Expense.now().figures(since: start)
    return ["elapsed", "cpu"].flatMap { figures[$0] ?? [] }
  }

  static func check(_ found: Int, _ expected: Int) throws {
    guard found == expected else { throw BenchFailure("\(found) items instead of \(expected)") }
  }
}

extension StoreOrders {
  /// Numbers all over the items.
  var spread: [Int] { (0..<singles).map { $0 * 7919 % items } }
}

/// What a program does that has the table for itself.
private struct PlainItems {
  private let database: PlainDatabase
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init(path: String) throws {
    database = try PlainDatabase(path: path, synchronous: .normal)
    try database.connection.execute(
      """
      CREATE TABLE IF NOT EXISTS data (
        sequence INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL,
        createdAt REAL NOT NULL, updatedAt REAL NOT NULL)
      """)
  }

  func run(_ orders: StoreOrders) throws -> [String: [Int64]] {
    defer { database.connection.close() }
    var figures: [String: [Int64]] = [:]
    var items: [BenchItem] = []
    var indices: [String: Int] = [:]
    func measure(_ work: StoreWork, _ body: () throws -> Void) throws {
      let start = Expense.now()
      try body()
      figures[work.rawValue] = StoreWorker.figures(since: start)
    }
    func put(_ item: BenchItem) {
      if let index = indices[item.id] {
        items[index] = item
      } else {
        indices[item.id] = items.count
        items.append(item)
      }
    }
    if orders.isFirst {
      let new = (0..<orders.items).map { BenchItem($0) }
      try measure(.insertMany) {
        try transaction { for item in new { try write(item) } }
        for item in new { put(item) }
      }
      return figures
    }
    try measure(.load) {
      let select = try database.connection.prepare("SELECT key, value FROM data ORDER BY sequence")
      defer { select.reset() }
      while try select.step() {
        guard case .blob(let bytes) = select.value(1) else { continue }
        put(try decoder.decode(BenchItem.self, from: Data(bytes)))
      }
    }
    try StoreWorker.check(items.count, orders.items)
    let new = (0..<orders.singles).map { BenchItem(orders.items + $0) }
    try measure(.insertOne) {
      for item in new {
        try transaction { try write(item) }
        put(item)
      }
    }
    let replacements = orders.spread.map { BenchItem($0, text: "another text") }
    try measure(.replaceOne) {
      for item in replacements {
        try transaction { try write(item) }
        put(item)
      }
    }
    try measure(.removeOne) {
      for item in replacements {
        try transaction {
          let delete = try database.connection.prepare("DELETE FROM data WHERE key = ?")
          try delete.bind(item.id, at: 1)
          try delete.run()
        }
        // Only the order is kept here, not the indices: a program that looks for each has more to do.
        if let index = items.firstIndex(where: { $0.id == item.id }) { items.remove(at: index) }
      }
    }
    return figures
  }

  private func transaction(_ body: () throws -> Void) throws {
    try database.connection.execute("BEGIN IMMEDIATE")
    try body()
    try database.connection.execute("COMMIT")
  }

  private func write(_ item: BenchItem) throws {
    let statement = try database.connection.prepare(
      """
      INSERT INTO data (key, value, createdAt, updatedAt) VALUES (?1, ?2, ?3, ?3)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, updatedAt = excluded.updatedAt
      """)
    try statement.bind(item.id, at: 1)
    try statement.bind(.blob(Array(try encoder.encode(item))), at: 2)
    try statement.bind(Date().timeIntervalSince1970, at: 3)
    try statement.run()
  }
}
