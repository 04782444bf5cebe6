import BoutiqueDB
import ProcessHarness
package import StressFaults
import StressHistory
import StressReport

/// Tables, columns, indexes, views and triggers that come and go while others read, write and observe.
///
/// Ours alter by `alterSchema` and by `write`, every fourth process has Python do it. Rows of `SELECT *` must be
/// those of one schema, statements that live across a change must see the new one, live queries end where the
/// truth is, and an error says that something is not there, or there already, and nothing else.
package struct SchemaChangesWorkload: Workload {
  package static let name = "schema-changes"
  package static let summary =
    "tables, columns, indexes, views and triggers come and go under load: no wrong row, all converge"
  // As in foreign-writers.
  package static let faults = FaultKind.allCases.filter { $0 != .powerCut }

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    var configuration = run.configuration(label: "prepare")
    configuration.foreignCapture = run.plan.seed.isMultiple(of: 2) ? .coarse : .precise
    let db = try await BoutiqueDB.open(path: run.database, configuration: configuration)
    try await db.write { connection in
      try connection.executeScript(SchemaShow.schema)
      for id in 1...SchemaShow.items {
        try connection.execute("INSERT INTO item VALUES (?, ?, 100)", id, "item \(id)")
      }
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    let db = try await worker.open()
    let items = LiveMirror<[SchemaItem]>(
      "items", worker, expects: Self.note(worker), fetch: { try SchemaShow.items($0) })
    let view = LiveMirror<Int64>(
      "view", worker, expects: Self.note(worker), fetch: { try SchemaShow.view($0) })
    let scratch = LiveMirror<[String]>(
      "scratch", worker, expects: Self.note(worker), fetch: { try SchemaShow.scratch($0) })
    let feed = FeedCopy("tables", tables: ["item", "audit", "scratch"], worker)
    try await worker.following([
      { await items.follow(db) }, { await view.follow(db) }, { await scratch.follow(db) },
      { await feed.follow(db) },
    ]) {
      try await worker.withClients(5) { client in
        switch client {
        case 0, 1: await move(db, worker, client)
        case 2: await read(db, worker)
        case 3: await readTyped(db, worker)
        default:
          if worker.place % 4 == 1 {
            try await alterForeign(worker)
          } else {
            await alter(db, worker)
          }
        }
      }
      for mirror in [items.settle, view.settle, scratch.settle] {
        await mirror(db) { try await Self.touch($0) }
      }
      await feed.settle(on: db)
    }
    await db.close()
  }

  private static func touch(_ db: BoutiqueDB) async throws {
    try await db.write {
      try $0.execute("CREATE TABLE touched (a)")
      try $0.execute("DROP TABLE touched")
    }
  }

  /// Whether an error is one that alterations explain; a wrong row is noted as what it is.
  private static func note(_ worker: WorkerContext) -> @Sendable (any Error) -> Bool {
    { error in
      if let wrong = error as? WrongRow {
        worker.log.note(.violation, "wrong row", wrong.text)
        return true
      }
      return SchemaShow.isOfAbsence(error)
    }
  }

  // MARK: Work

  private func move(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    while !worker.shouldEnd {
      let from = random.int(1...SchemaShow.items)
      let to = from % SchemaShow.items + 1
      let amount = random.int(1...9)
      await worker.attempt("move", client: client) { id in
        try await db.write { connection in
          // One statement, used twice, compiled before others may have altered the table.
          let update = try connection.prepare("UPDATE item SET value = value + ? WHERE id = ?")
          guard try update.run(-amount, from) == 1, try update.run(amount, to) == 1 else {
            throw WrongRow(text: "an update changed no row, or several")
          }
          try connection.execute(
            "INSERT INTO entry (process, number) VALUES (?, ?)", id.process, id.number)
        }
        return []
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...10)))
    }
  }

  private func read(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    var random = worker.random("read")
    while !worker.shouldEnd {
      let way = random.int(0...2)
      await worker.attempt("read", client: 2, expects: Self.note(worker)) { _ in
        try await db.read { connection in
          switch way {
          case 0: _ = try SchemaShow.items(connection)
          case 1: _ = try SchemaShow.view(connection)
          default: _ = try SchemaShow.scratch(connection)
          }
        }
        return []
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...15)))
    }
  }

  private func readTyped(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    var random = worker.random("typed")
    while !worker.shouldEnd {
      await worker.attempt("typed", client: 3, expects: Self.note(worker)) { _ in
        try await db.read { connection in
          let all = try SchemaItem.order(by: \.id).fetchAll(connection)
          try SchemaShow.check(all)
          // Again, over the index that may be there, and by key.
          let statement = try connection.prepare("SELECT sum(value) FROM item WHERE value > ?")
          let high = try statement.first(arguments: [-1_000_000])?.decode(0, as: Int64.self)
          guard high == SchemaShow.total, try SchemaItem.find(3).fetchOne(connection) == all[2]
          else { throw WrongRow(text: "a sum over an index is \(high ?? -1)") }
        }
        return []
      }
      try? await Task.sleep(for: .milliseconds(random.int(0...15)))
    }
  }

  // MARK: Alterations

  private func alter(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    var random = worker.random("alter")
    while !worker.shouldEnd {
      let alteration =
        SchemaShow.Alteration.allCases[random.int(0...SchemaShow.Alteration.allCases.count - 1)]
      let statements = alteration.statements(random.int(1...4))
      let isWrite = random.chance(50)
      await worker.attempt("alter", client: 4, expects: SchemaShow.isOfAbsence) { _ in
        if isWrite {
          try await db.write { connection in
            for sql in statements { try connection.execute(sql) }
          }
        } else {
          try await db.alterSchema("show") { connection in
            for sql in statements { try connection.execute(sql) }
          }
        }
        return [Step(.set, "\(alteration)")]
      }
      try? await Task.sleep(for: .milliseconds(random.int(20...120)))
    }
  }

  private func alterForeign(_ worker: WorkerContext) async throws {
    try await withChildProcesses { children in
      let hand = ForeignHand(.python, database: worker.run.database, children)
      var program = try await hand.start()
      var random = worker.random("foreign")
      while !worker.shouldEnd {
        let alteration =
          SchemaShow.Alteration.allCases[random.int(0...SchemaShow.Alteration.allCases.count - 1)]
        let dies = random.chance(8)
        let operation = worker.log.begin("alter", client: 4, [Step(.set, "\(alteration)")])
        let ending = await hand.transact(
          program, number: operation.number, alteration.statements(random.int(1...4)), dies: dies)
        switch ending {
        case .done: worker.log.end(operation, .done)
        case .undone(let text):
          worker.log.end(operation, .refused, error: ForeignError(text: text))
          // That the library's triggers make a foreign program fail is what they promise not to do.
          if text.contains("boutiquedb") {
            worker.log.note(.violation, "foreign program", "\(alteration): \(text)")
          }
        case .unknown(let text):
          worker.log.end(operation, .unknown, error: ForeignError(text: text))
          worker.log.note(.trouble, "foreign program", text)
        }
        // The only ones that leave the program alive.
        switch ending {
        case .done: break
        case .undone where !dies: break
        default: if !worker.shouldEnd { program = try await hand.start() }
        }
        try? await Task.sleep(for: .milliseconds(random.int(50...200)))
      }
    }
  }
}
