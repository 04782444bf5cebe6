import BoutiqueDB
import StressHistory

/// Counts on, and looks whether its own writes are there.
struct LiveWriter: Sendable {
  let db: BoutiqueDB
  let worker: WorkerContext
  let client: Int

  func run() async {
    var random = worker.random("writer \(client)")
    while !worker.shouldEnd {
      let cell = random.int(0...LiveState.cells - 1)
      let steps = await worker.operate("write", client: client) {
        guard let counter = try await Self.write(cell, db) else { return [] }
        return [Step(.set, LiveState.key, .integer(counter))]
      }
      if case .integer(let counter)? = steps?.first?.value {
        await look(for: counter)
      }
      // Rests and refusals are waited for; else a little, so that queries have something to follow.
      let isResting = steps?.isEmpty ?? true
      try? await Task.sleep(for: .microseconds(isResting ? 20_000 : random.int(0...4000)))
    }
  }

  /// Returns what was counted to; nil while all rest.
  ///
  /// - Parameter isolation: the actor whose live queries have the write when this returns.
  static func write(
    _ cell: Int, _ db: BoutiqueDB, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Int64? {
    try await db.write(isolation: isolation) { connection in
      guard try !LiveRest.isOn(connection) else { return nil }
      return try LiveState.advance(cell: cell, connection, at: HistoryLog.now())
    }
  }

  private func look(for counter: Int64) async {
    let began = HistoryLog.now()
    guard let seen = try? await db.read({ try LiveState($0) }), seen.counter < counter else {
      return
    }
    worker.log.note(
      .violation, "own write not seen",
      "a write that counted to \(counter) was done, and a read after it gave \(seen.counter)",
      since: began, seen: LiveState.seen(seen.cells, counter: seen.counter))
  }
}

/// Writes from the main actor, whose live property must have each of its writes when the write is done.
@MainActor
enum LiveMainWriter {
  /// The property, while it is observed.
  static var current: LiveValue<LiveState?>?

  static func run(db: BoutiqueDB, worker: WorkerContext) async {
    var random = worker.random("main writer")
    while !worker.shouldEnd {
      let cell = random.int(0...LiveState.cells - 1)
      let began = HistoryLog.now()
      let property = current
      // One that had nothing yet may still be on the way to its first value.
      let wasLoaded = property?.isLoaded == true
      let steps = await worker.operate("write", client: 2) {
        guard let counter = try await LiveWriter.write(cell, db) else { return [] }
        return [Step(.set, LiveState.key, .integer(counter))]
      }
      if case .integer(let counter)? = steps?.first?.value, let property, wasLoaded,
        property.error == nil, let shown = property.value, shown.counter < counter,
        // A query that takes longer than a second is not waited for.
        HistoryLog.now() - began < 900_000_000
      {
        worker.log.note(
          .violation, "own write not shown",
          "a write of the main actor that counted to \(counter) was done, and its live property "
            + "still showed \(shown.counter)",
          seen: LiveState.seen(shown.cells, counter: shown.counter))
      }
      let isResting = steps?.isEmpty ?? true
      try? await Task.sleep(for: .microseconds(isResting ? 20_000 : random.int(0...20_000)))
    }
  }
}
