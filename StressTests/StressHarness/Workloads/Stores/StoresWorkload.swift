import Blackbird
import Boutique
import BoutiqueDB
import Foundation
package import StressFaults
package import StressHistory
import StressReport

/// A model whose rows all processes count on.
struct StoresCounter: BlackbirdModel {
  /// Counted on by `modify`.
  static let modified = 1
  /// Counted on by an assignment that names a key path.
  static let assigned = 2

  @BlackbirdColumn var id: Int
  @BlackbirdColumn var count: Int
}

/// An item of the store.
struct StoresItem: Codable, Sendable, Equatable, Identifiable {
  var id: String
  var number: Int
}

/// The three interfaces over one database, in all processes: a `Store`, a `@StoredValue` and models.
///
/// Whatever is counted on is counted on by everybody, and must come to the number of times; what was inserted
/// is there, what was removed is not; and in the end memory shows what the disk has.
package struct StoresWorkload: Workload {
  package static let name = "stores"
  package static let summary =
    "Store, StoredValue and models in all processes: they converge, and no update is lost"
  package static let faults = FaultKind.allCases

  static let valueKey = "count"

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    let configuration = run.configuration(label: "prepare")
    let models = try await Blackbird.Database.open(path: run.database, configuration: configuration)
    for id in [StoresCounter.modified, StoresCounter.assigned] {
      try await StoresCounter(id: id, count: 0).write(to: models)
    }
    await models.close()
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    let value = StoredValue(wrappedValue: 0, key: Self.valueKey, storage: .database(db))
    try await value.set(0).committed()
    _ = try await SQLiteStorageEngine(database: db).database()
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    let models = try await openModels(worker)
    let member = await StoresMember(db: db, models: models, worker: worker)
    try await member.load()
    await withTaskGroup { group in
      group.addTask { await member.keepItems() }
      group.addTask { await member.countValue() }
      group.addTask { await member.countModels() }
    }
    await member.settle()
    await member.end()
    await models.close()
    await db.close()
  }

  private func openModels(_ worker: WorkerContext) async throws -> Blackbird.Database {
    while true {
      do {
        return try await Blackbird.Database.open(
          path: worker.run.database,
          configuration: worker.run.configuration(label: "models \(worker.place)"))
      } catch {
        if worker.shouldEnd || worker.run.plan.faults.isEmpty { throw error }
        worker.log.note(.trouble, "open", "\(error)")
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  package func check(_ run: RunContext, _ history: History) async throws -> [Violation] {
    let configuration = run.configuration(label: "check")
    let models = try await Blackbird.Database.open(path: run.database, configuration: configuration)
    var counts: [String: Int] = [:]
    for model in try await StoresCounter.read(from: models, orderBy: .ascending(\.$id)) {
      counts[model.id == StoresCounter.modified ? "modify" : "assign"] = model.count
    }
    await models.close()
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    counts["value"] = Int(try await StoresMember.storedValue(db))
    let items = Set(try await StoresMember.storedItems(db).map(\.id))
    await db.close()
    // What a power cut may take is another workload's matter.
    guard !run.mayForget else { return [] }
    var violations: [Violation] = []
    for name in ["modify", "assign", "value"] {
      let operations = history.operations.filter { $0.name == name }
      let done = operations.count { $0.outcome == .done }
      let possible = operations.count { $0.outcome != .refused }
      let count = counts[name] ?? -1
      if count < done || count > possible {
        violations.append(
          Violation(
            check: count < done ? "lost update" : "repeated update",
            text:
              "\(name): \(done) additions were acknowledged and \(possible) begun, and the count "
              + "is \(count)"))
      }
    }
    return violations + Self.check(items, history)
  }

  private static func check(_ items: Set<String>, _ history: History) -> [Violation] {
    // One process has each item, and does one thing after the other with it.
    var wanted: [String: (isThere: Bool, operation: OperationRecord)] = [:]
    for operation in history.operations
    where operation.name == "insert" || operation.name == "remove" {
      for step in operation.steps {
        wanted[step.key] =
          operation.outcome == .done ? (operation.name == "insert", operation) : nil
      }
    }
    let wrong = wanted.filter { items.contains($0.key) != $0.value.isThere }
    return wrong.sorted { $0.key < $1.key }.prefix(5).map { key, wanted in
      Violation(
        check: wanted.isThere ? "lost item" : "returned item",
        text: wanted.isThere
          ? "\(key) was inserted and is not there" : "\(key) was removed and is there",
        operations: [wanted.operation])
    }
  }
}
