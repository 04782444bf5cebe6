import Blackbird
import Boutique
import BoutiqueDB
import Foundation
import StressHistory
import StressReport

/// One process's store, value and models.
@MainActor
final class StoresMember {
  /// How long nothing may move at the end before a difference counts.
  private static let patience: Int64 = 10_000_000_000

  private let db: BoutiqueDB
  private let models: Blackbird.Database
  private let worker: WorkerContext
  private let storage: SettingsStorage
  private let value: StoredValue<Int>
  private let store: Store<StoresItem>

  init(db: BoutiqueDB, models: Blackbird.Database, worker: WorkerContext) {
    self.db = db
    self.models = models
    self.worker = worker
    storage = .database(db)
    value = StoredValue(wrappedValue: 0, key: StoresWorkload.valueKey, storage: storage)
    store = Store<StoresItem>(storage: SQLiteStorageEngine(database: db))
  }

  func load() async throws {
    while true {
      do {
        try await store.itemsHaveLoaded()
        try await storage.load()
        return
      } catch {
        if worker.shouldEnd || worker.run.plan.faults.isEmpty { throw error }
        worker.log.note(.trouble, "load", "\(error)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  func end() async {
    // What could not be written has been told to whoever asked for it.
    try? await storage.close()
  }

  func keepItems() async {
    var random = worker.random("items")
    var own: [StoresItem] = []
    var number = 0
    while !worker.shouldEnd {
      if own.count > 10 || (!own.isEmpty && random.chance(30)) {
        let item = own.remove(at: random.int(0...own.count - 1))
        let steps = [Step(.delete, item.id)]
        if await worker.operate("remove", client: 1, steps, { try await self.remove(item, steps) })
          != nil, store.items.contains(item)
        {
          worker.log.note(
            .violation, "own write not shown", "\(item.id) was removed and is in memory")
        }
      } else {
        number += 1
        let item = StoresItem(id: "\(worker.start)-\(number)", number: number)
        let steps = [Step(.insert, item.id)]
        guard
          await worker.operate("insert", client: 1, steps, { try await self.insert(item, steps) })
            != nil
        else { continue }
        own.append(item)
        if !store.items.contains(item) {
          worker.log.note(
            .violation, "own write not shown", "\(item.id) was inserted and is not in memory")
        }
      }
      try? await Task.sleep(for: .microseconds(random.int(0...10_000)))
    }
  }

  private func insert(_ item: StoresItem, _ steps: [Step]) async throws -> [Step] {
    try await store.insert(item)
    return steps
  }

  private func remove(_ item: StoresItem, _ steps: [Step]) async throws -> [Step] {
    try await store.remove(item)
    return steps
  }

  func countValue() async {
    var random = worker.random("value")
    while !worker.shouldEnd {
      await worker.operate("value", client: 2, [Step(.add, "value", .integer(1))]) {
        try await self.value.modify { $0 += 1 }.committed()
        return [Step(.add, "value", .integer(1))]
      }
      try? await Task.sleep(for: .microseconds(random.int(0...5000)))
    }
  }

  func countModels() async {
    var random = worker.random("models")
    let models = models
    while !worker.shouldEnd {
      if random.chance(50) {
        await worker.operate("modify", client: 3, [Step(.add, "modify", .integer(1))]) {
          let model = try await StoresCounter.modify(
            in: models, primaryKey: StoresCounter.modified
          ) { $0.count += 1 }
          return [Step(.set, "modify", .integer(Int64(model.count)))]
        }
      } else {
        await worker.operate("assign", client: 3, [Step(.add, "assign", .integer(1))]) {
          try await StoresCounter.update(
            in: models, set: [\.$count: \.$count + 1], matching: \.$id == StoresCounter.assigned)
          return [Step(.add, "assign", .integer(1))]
        }
      }
      try? await Task.sleep(for: .microseconds(random.int(0...5000)))
    }
  }

  // MARK: The end

  /// Waits until memory shows what the disk has, as long as anything moves.
  func settle() async {
    var last: (Set<String>, Int, Set<String>, Int64) = ([], 0, [], -1)
    var lastMove = HistoryLog.now()
    while true {
      let items = Set((try? await Self.storedItems(db))?.map(\.id) ?? ["unreadable"])
      let number = (try? await Self.storedValue(db)) ?? -1
      let now = (Set(store.items.map(\.id)), value.wrappedValue, items, number)
      if now.0 == items, Int64(now.1) == number { return }
      if now != last { (last, lastMove) = (now, HistoryLog.now()) }
      if HistoryLog.now() - lastMove > Self.patience { break }
      try? await Task.sleep(for: .milliseconds(20))
    }
    let differing = last.0.symmetricDifference(last.2).sorted().prefix(5).joined(separator: ", ")
    worker.log.note(
      .violation, "missed change",
      "memory and disk differ: the value is \(last.1) and \(last.3); items: \(differing)")
  }

  nonisolated static func storedItems(_ db: BoutiqueDB) async throws -> [StoresItem] {
    try await SQLiteStorageEngine(database: db).readAllData().map {
      try JSONDecoder().decode(StoresItem.self, from: $0)
    }
  }

  /// What is stored, past the memory of any storage.
  nonisolated static func storedValue(_ db: BoutiqueDB) async throws -> Int64 {
    let json = try await db.read { connection in
      try connection.queryOne(
        "SELECT CAST(value AS TEXT) AS json FROM stored_value WHERE key = ?",
        StoresWorkload.valueKey)?.decode("json", as: String.self)
    }
    return json.flatMap(Int64.init) ?? -1
  }
}
