import BoutiqueDB
import SQLiteConnection
import SharedFileCoordination

/// Commits one-row transactions without pause and remembers when each was asked for and done.
struct ContentionWorker: Sendable {
  let orders: ContentionOrders
  let link: WorkerLink

  /// Opens, waits for the common start, writes.
  func run() async throws -> [String: [Int64]] {
    switch orders.variant {
    case .baseline: try await plain()
    case .single, .many, .grouped: try await library()
    case .lease, .logged: try await leased(quantum: .milliseconds(1))
    case .handover: try await leased(quantum: .zero)
    }
  }

  // MARK: Variants

  private func library() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench \(orders.index)"
    configuration.synchronous = orders.synchronous == .full ? .full : .normal
    // A wait that ends in an error would make the run incomplete, however unfair the turns are.
    configuration.writeLockTimeout = .seconds(600)
    if orders.variant != .grouped { configuration.groupCommitLimit = 1 }
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    let start = try await link.awaitStart()
    let tasks = orders.variant == .single ? 1 : min(orders.tasks, orders.transactions)
    let timeline = try await withThrowingTaskGroup(of: WriteTimeline.self) { group in
      for task in 0..<tasks {
        group.addTask {
          // The numbers are shared out like cards, so that all tasks have one more or less.
          try await write(
            stride(from: task, to: orders.transactions, by: tasks), into: db, since: start)
        }
      }
      var all = WriteTimeline(start: start)
      for try await part in group { all.merge(part) }
      return all
    }
    let figures = timeline.figures(since: link.expenseAtStart)
    await db.close()
    return figures
  }

  private func write(
    _ numbers: StrideTo<Int>, into db: BoutiqueDB, since start: BootClock.Instant
  ) async throws -> WriteTimeline {
    var timeline = WriteTimeline(start: start)
    let worker = orders.index
    for number in numbers {
      let asked = BootClock.now()
      try await db.write { connection in
        try connection.execute(
          BenchTable.insert, worker, number, BenchTable.body(number), Double(number))
      }
      timeline.add(asked: asked, done: BootClock.now())
    }
    return timeline
  }

  private func plain() async throws -> [String: [Int64]] {
    let place = try await opened { [orders] in
      try PlainDatabase(path: orders.path, synchronous: orders.synchronous)
    }
    let start = try await link.awaitStart()
    return try await OwnThread.run { [orders, link] in
      let database = place.value
      var timeline = WriteTimeline(start: start)
      for number in 0..<orders.transactions {
        let asked = BootClock.now()
        while true {
          do throws(SQLiteError) {
            try database.connection.execute("BEGIN IMMEDIATE")
            break
          } catch {
            guard error.code.primary == .busy else { throw error }
            timeline.refusals += 1
          }
        }
        try database.insert(worker: orders.index, sequence: number)
        try database.connection.execute("COMMIT")
        timeline.add(asked: asked, done: BootClock.now())
      }
      database.connection.close()
      return timeline.figures(since: link.expenseAtStart)
    }
  }

  private func leased(quantum: Duration) async throws -> [String: [Int64]] {
    let place = try await opened { [orders] in
      let options = CoordinationOptions(label: "bench \(orders.index)", quantum: quantum)
      return (
        try PlainDatabase(path: orders.path, synchronous: orders.synchronous),
        try CoordinationFile(databasePath: orders.path, options: options)
      )
    }
    let start = try await link.awaitStart()
    return try await OwnThread.run { [orders, link] in
      let (database, coordination) = place.value
      var timeline = WriteTimeline(start: start)
      var number = 0
      var asked = BootClock.now()
      while number < orders.transactions {
        let turn = try coordination.writeLease.acquire(deadline: nil, purpose: "bench") { false }
        repeat {
          try database.connection.execute("BEGIN IMMEDIATE")
          try database.insert(worker: orders.index, sequence: number)
          if orders.variant == .logged { try database.insertLogRow(sequence: number) }
          try database.connection.execute("COMMIT")
          let done = BootClock.now()
          timeline.add(asked: asked, done: done)
          asked = done
          number += 1
        } while number < orders.transactions && !turn.shouldHandOver()
        turn.finish()
      }
      database.connection.close()
      coordination.close()
      return timeline.figures(since: link.expenseAtStart)
    }
  }

  private func opened<Value>(
    _ open: @escaping @Sendable () throws -> Value
  ) async throws -> Handed<Value> {
    try await OwnThread.run { Handed(value: try open()) }
  }
}

/// Something that one thread made and another uses.
///
/// Safe to send since the thread that made it has ended before the other one begins.
struct Handed<Value>: @unchecked Sendable {
  let value: Value
}

/// When each write of a worker was asked for and done.
struct WriteTimeline: Sendable {
  let start: BootClock.Instant
  /// How long each write took, in nanoseconds.
  private var waits: [Int64] = []
  /// When each was done, in nanoseconds after the start.
  private var ends: [Int64] = []
  /// How often SQLite gave up waiting for its lock.
  var refusals = 0

  init(start: BootClock.Instant) { self.start = start }

  /// Adds a write.
  mutating func add(asked: BootClock.Instant, done: BootClock.Instant) {
    waits.append(asked.duration(to: done).clampedNanoseconds)
    ends.append(start.duration(to: done).clampedNanoseconds)
  }

  /// Adds what another task did meanwhile.
  mutating func merge(_ other: WriteTimeline) {
    waits += other.waits
    ends += other.ends
    refusals += other.refusals
  }

  /// What the coordinator is told.
  ///
  /// A stall is a time without any commit of the worker though it had something to write. With one
  /// task it is about the same as a wait.
  func figures(since former: Expense?) -> [String: [Int64]] {
    let now = Expense.now()
    var stall: Int64 = 0
    var last: Int64 = 0
    for end in ends.sorted() {
      stall = max(stall, end - last)
      last = end
    }
    return [
      "waits": waits, "finished": [last], "stall": [stall], "refusals": [Int64(refusals)],
      "cpu": former.flatMap { now.figures(since: $0)["cpu"] } ?? [],
    ]
  }
}
