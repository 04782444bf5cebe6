import BoutiqueDB
import SharedFileCoordination
import Synchronization

/// Observes queries, and tells how long values took to come and what they cost.
struct ObserverWorker: Sendable {
  let orders: ObserverOrders
  let link: WorkerLink

  /// A value of the first query.
  private struct Arrival: Sendable {
    /// The content of the first row: when it was written.
    let stamp: Int64
    let seen: Int64
  }

  private final class Counters: Sendable {
    let runs = Atomic(0)
    let values = Atomic(0)
  }

  func run() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench observer"
    configuration.writeLockTimeout = .seconds(600)
    // Only the bell counts: a poll would hide a bell that was lost.
    configuration.cdcPollInterval = .seconds(3600)
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    let counters = Counters()
    let (arrivals, arrival) = AsyncStream<Arrival>.makeStream()
    let (loaded, load) = AsyncStream<Void>.makeStream()
    let figures = try await withThrowingTaskGroup(of: Void.self) { group in
      for query in 0..<orders.queries {
        group.addTask {
          try await observe(query, db, counters, arrival, loaded: load)
        }
      }
      var loads = loaded.makeAsyncIterator()
      for _ in 0..<orders.queries { _ = await loads.next() }
      ProcessMemory.forgetPeak()
      let before = ProcessMemory.now()
      let runsBefore = counters.runs.load(ordering: .relaxed)
      let expense = Expense.now()
      _ = try await link.awaitStart()
      var figures = try await watch(db, arrivals)
      let after = ProcessMemory.now()
      figures["memory"] = [before.resident, after.peak]
      figures["runs"] = [Int64(counters.runs.load(ordering: .relaxed) - runsBefore)]
      figures["values"] = [Int64(counters.values.load(ordering: .relaxed) - orders.queries)]
      figures["cpu"] = Expense.now().figures(since: expense)["cpu"]
      group.cancelAll()
      return figures
    }
    await db.close()
    return figures
  }

  private func observe(
    _ query: Int, _ db: BoutiqueDB, _ counters: Counters,
    _ arrival: AsyncStream<Arrival>.Continuation, loaded: AsyncStream<Void>.Continuation
  ) async throws {
    let rows = LiveTable.rows(of: query)
    let observation = db.observe { connection in
      counters.runs.add(1, ordering: .relaxed)
      return try connection.query(LiveTable.select, rows.lowerBound, rows.upperBound)
    }
    var isFirst = true
    do {
      for try await value in observation {
        counters.values.add(1, ordering: .relaxed)
        if query == 0, case .integer(let stamp)? = value.first?[0] {
          arrival.yield(Arrival(stamp: stamp, seen: Int64(BootClock.now().nanoseconds)))
        }
        if isFirst { loaded.yield() }
        isFirst = false
      }
    } catch is CancellationError {}
  }

  private func watch(
    _ db: BoutiqueDB, _ arrivals: AsyncStream<Arrival>
  ) async throws -> [String: [Int64]] {
    var iterator = arrivals.makeAsyncIterator()
    // The first value is from before the start.
    _ = await iterator.next()
    var latencies: [Int64] = []
    switch orders.writer {
    case .own:
      var writes: [Int64] = []
      for _ in 0..<orders.samples {
        let asked = BootClock.now()
        let stamp = try await LiveWriterWorker.write(to: db, row: 1)
        writes.append(asked.duration(to: BootClock.now()).clampedNanoseconds)
        guard let found = await Self.arrival(of: stamp, &iterator) else { break }
        latencies.append(found.seen - stamp)
        try await Task.sleep(for: .nanoseconds(orders.pause))
      }
      return ["latencies": latencies, "writes": writes]
    case .other:
      for _ in 0..<orders.samples {
        guard let found = await iterator.next() else { break }
        latencies.append(found.seen - found.stamp)
        try link.tell(.step)
      }
      return ["latencies": latencies]
    case .storm:
      let words = await link.nextLine().split(separator: " ")
      guard let last = words.last, let stamp = Int64(last) else {
        throw BenchFailure("the last stamp expected, “\(words.joined(separator: " "))” came")
      }
      let asked = Int64(BootClock.now().nanoseconds)
      guard let found = await Self.arrival(of: stamp, &iterator) else {
        throw BenchFailure("the observation ended before the last commit was seen")
      }
      return ["settled": [max(0, found.seen - asked)]]
    }
  }

  private static func arrival(
    of stamp: Int64, _ iterator: inout AsyncStream<Arrival>.Iterator
  ) async -> Arrival? {
    while let arrival = await iterator.next() {
      if arrival.stamp >= stamp { return arrival }
    }
    return nil
  }
}
