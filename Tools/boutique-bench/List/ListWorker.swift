import BoutiqueDB
import Observation
import SharedFileCoordination

/// Who observes the list.
enum ListVariant: String, CaseIterable, Codable, Sendable {
  /// Nobody.
  case unobserved
  /// A loop over the lists.
  case loop
  /// A loop over the lists with their differences.
  case differences
  /// A property of the main actor.
  case property
  /// A loop over the values of a closure.
  case closure

  /// What tables call it.
  var title: String { self == .unobserved ? "nobody" : rawValue }
}

/// What the worker of the list benchmark does.
struct ListOrders: Codable, Sendable {
  var path: String
  var variant: ListVariant
  var rows: Int
  var samples: Int
  /// Nanoseconds between two changes.
  var pause: Int64
}

/// A row of the list.
@BoutiqueTable("entry")
struct ListEntry: Equatable {
  let id: Int
  var name: String
  var note: String
  var score: Double
  var state: Int

  /// The list: all rows but one in eleven, by score.
  static var list: some Statement<ListEntry> {
    ListEntry.where { $0.state < 10 }.order { ($0.score.desc(), $0.id) }
  }
}

/// Changes rows one at a time and tells when the list had them.
struct ListWorker: Sendable {
  let orders: ListOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench list"
    configuration.writeLockTimeout = .seconds(600)
    configuration.cdcPollInterval = .seconds(3600)
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("entries") { conn in
        try ListEntry.createTable().execute(conn)
        for id in 1...orders.rows * 11 / 10 {
          try ListEntry.insert {
            ListEntry(
              id: id, name: "an entry, number \(id)", note: "with a text of ordinary length",
              score: Double(id &* 7919 % 1_000_003), state: id % 11)
          }.execute(conn)
        }
      }
    }
    let db = try await BoutiqueDB.open(
      path: orders.path, configuration: configuration, migrations: plan)
    let (arrivals, arrival) = AsyncStream<Int64>.makeStream()
    @Sendable func note(_ count: Int) {
      if count > 0 { arrival.yield(Int64(BootClock.now().nanoseconds)) }
    }
    let observer = observe(db, note)
    var seen = arrivals.makeAsyncIterator()
    var model: ListModel?
    switch orders.variant {
    case .unobserved: break
    case .loop, .differences, .closure: _ = await seen.next()
    case .property:
      let made = await ListModel(db)
      try await made.load()
      model = made
    }
    _ = try await link.awaitStart()
    var deliveries: [Int64] = []
    var writes: [Int64] = []
    for sample in 0..<orders.samples {
      // Not the one in eleven that is not in the list.
      let row = (sample &* 104_729 % (orders.rows / 11)) * 11 + 1
      let score = Double(sample &* 15_485_863 % 1_000_003) + 0.5
      await model?.watch(note)
      let asked = BootClock.now()
      let stamp = try await db.write { conn in
        let stamp = BootClock.now()
        try ListEntry.find(row).update { $0.score = score }.execute(conn)
        return stamp
      }
      writes.append(asked.duration(to: BootClock.now()).clampedNanoseconds)
      if orders.variant != .unobserved {
        guard let moment = await seen.next() else { break }
        deliveries.append(moment - Int64(stamp.nanoseconds))
      }
      try await Task.sleep(for: .nanoseconds(orders.pause))
    }
    let work = db.liveQueryWork
    let memory = ProcessMemory.now().resident
    observer?.cancel()
    model = nil
    await db.close()
    return [
      "deliveries": deliveries, "writes": writes, "steps": [Int64(work.steps)],
      "runs": [Int64(work.runs)], "memory": [memory],
    ]
  }

  private func observe(
    _ db: BoutiqueDB, _ note: @escaping @Sendable (Int) -> Void
  ) -> Task<Void, any Error>? {
    switch orders.variant {
    case .loop:
      return Task {
        for try await rows in db.observe({ ListEntry.list }) { note(rows.count) }
      }
    case .differences:
      return Task {
        for try await change in db.observe({ ListEntry.list }).differences {
          note(change.elements.count)
        }
      }
    case .closure:
      return Task {
        for try await rows in db.observe({ try ListEntry.list.fetchAll($0) }) { note(rows.count) }
      }
    // The property is watched anew before each change.
    case .unobserved, .property: return nil
    }
  }
}

/// What an interface has.
@MainActor private final class ListModel {
  @LiveQuery private var rows: [ListEntry]

  init(_ db: BoutiqueDB) { _rows = LiveQuery(db) { ListEntry.list } }

  func load() async throws { try await $rows.refresh() }

  /// Calls a closure when the property is about to have another value.
  func watch(_ note: @escaping @Sendable (Int) -> Void) {
    withObservationTracking {
      _ = rows.count
    } onChange: {
      note(1)
    }
  }
}
