import BoutiqueDB
import Foundation
package import StressFaults
import StressHistory

/// Commits with a place in one order, by several processes: what was acknowledged stays, as far as
/// `synchronous` promises, and what is there is whole up to some moment.
///
/// Each row names its place in the order, who wrote it, and a sum over all rows before it: so one row proves
/// the whole past. After a power cut that comes before the disk has everything, the order may end earlier, but
/// nothing in its midst may be missing, and whoever resumes with a token of what is lost must be told so.
package struct DurabilityWorkload: Workload {
  package static let name = "durability"
  package static let summary =
    "numbered commits with acknowledgements: none is lost but by a power cut, and then only the last"
  package static let faults = FaultKind.allCases

  package init() {}

  package func prepare(_ run: RunContext) async throws {
    let db = try await BoutiqueDB.open(
      path: run.database, configuration: run.configuration(label: "prepare"))
    try await db.write { connection in
      try connection.executeScript(
        """
        CREATE TABLE entry (position INTEGER PRIMARY KEY, process INTEGER NOT NULL,
          number INTEGER NOT NULL, own INTEGER NOT NULL, filler BLOB NOT NULL, chain INTEGER NOT NULL);
        CREATE TABLE tally (id INTEGER PRIMARY KEY, position INTEGER NOT NULL, own INTEGER NOT NULL);
        """)
    }
    await db.close()
  }

  package func work(_ worker: WorkerContext) async throws {
    // A small log is begun anew often, so that cuts meet checkpoints in all their stages.
    let db = try await worker.open { $0.writeAheadLogBound = 512 << 10 }
    await ReceiptFile(worker).check(db, worker)
    let live = LiveMirror<Int64>(
      "head", worker,
      problem: { before, head in
        before.flatMap { head < $0 ? "went back from \($0) to \(head)" : nil }
      },
      fetch: { try $0.queryOne("SELECT max(position) FROM entry")?.decode(0, as: Int64?.self) ?? 0 }
    )
    let directory = worker.run.directory
    let feed = FeedCopy(
      "from a token", tables: ["tally"], worker, file: directory + "/feed-\(worker.place)")
    let mirror = FeedCopy(
      "durable", tables: ["tally"], worker, file: directory + "/mirror-\(worker.place)",
      consumer: "mirror \(worker.place)")
    try await worker.following([
      { await live.follow(db) }, { await feed.follow(db) }, { await mirror.follow(db) },
    ]) {
      try await worker.withClients(3) { client in
        if client == 2 { await read(db, worker) } else { await write(db, worker, client) }
      }
      // Who was not heard of for long has been written to again, so that the copies have something to miss.
      await live.settle(on: db, touch: { try await Self.touch($0) })
      await feed.settle(on: db)
      await mirror.settle(on: db)
    }
    await db.close()
  }

  private static func touch(_ db: BoutiqueDB) async throws {
    try await db.write { try $0.execute("UPDATE entry SET position = position WHERE position = 1") }
  }

  private func write(_ db: BoutiqueDB, _ worker: WorkerContext, _ client: Int) async {
    var random = worker.random(client: client)
    let receipts = ReceiptFile(worker)
    while !worker.shouldEnd {
      let size = random.chance(3) ? random.int(4000...60_000) : random.int(0...300)
      await worker.attempt("commit", client: client) { id in
        let (link, token) = try await db.writeWithToken { try ChainLink.append(id, size: size, $0) }
        if client == 0 { receipts.keep(Receipt(token: token, link: link)) }
        return [Step(.insert, "\(link.position)", .integer(link.chain))]
      }
      if random.chance(20) { try? await Task.sleep(for: .milliseconds(random.int(1...10))) }
    }
  }

  private func read(_ db: BoutiqueDB, _ worker: WorkerContext) async {
    while !worker.shouldEnd {
      await worker.attempt("look", client: 2) { _ in
        let links = try await db.read { connection in
          try ChainLink.all(
            connection, "ORDER BY position DESC LIMIT 40")
        }.sorted { $0.position < $1.position }
        if let problem = ChainLink.problem(links) {
          worker.log.note(.violation, "torn read", problem)
        }
        return [Step(.read, "head", links.last.map { .integer($0.position) } ?? .none)]
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}
