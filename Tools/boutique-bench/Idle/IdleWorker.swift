import BoutiqueDB

/// Observes, does nothing for a while, and tells what that took.
struct IdleWorker: Sendable {
  let orders: IdleOrders
  let link: WorkerLink

  func run() async throws -> [String: [Int64]] {
    var configuration = BoutiqueConfiguration()
    configuration.label = "bench idle"
    let db = try await BoutiqueDB.open(path: orders.path, configuration: configuration)
    let (loaded, load) = AsyncStream<Void>.makeStream()
    var figures = try await withThrowingTaskGroup(of: Void.self) { group in
      // A first one, which brings connections and threads with it.
      group.addTask { try await observe(0, db, load) }
      var loads = loaded.makeAsyncIterator()
      _ = await loads.next()
      let before = ProcessMemory.now()
      for query in 1..<max(2, orders.queries) {
        group.addTask { try await observe(query, db, load) }
      }
      for _ in 1..<max(2, orders.queries) { _ = await loads.next() }
      let after = ProcessMemory.now()
      _ = try await link.awaitStart()
      let start = Expense.now()
      try await Task.sleep(for: .nanoseconds(orders.span))
      var figures = Expense.now().figures(since: start)
      figures["memory"] = [after.resident - before.resident]
      group.cancelAll()
      return figures
    }
    await db.close()
    figures["queries"] = [Int64(max(1, orders.queries - 1))]
    return figures
  }

  private func observe(
    _ query: Int, _ db: BoutiqueDB, _ load: AsyncStream<Void>.Continuation
  ) async throws {
    let rows = LiveTable.rows(of: query)
    do {
      for try await _ in db.observe({ connection in
        try connection.query(LiveTable.select, rows.lowerBound, rows.upperBound)
      }) {
        load.yield()
      }
    } catch is CancellationError {}
  }
}
