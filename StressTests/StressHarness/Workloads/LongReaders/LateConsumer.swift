import BoutiqueDB
import StressHistory
import StressReport

/// A durable consumer that takes its time: the change log waits for it up to its hard bound, and no longer.
struct LateConsumer: Sendable {
  static let name = "late"
  let worker: WorkerContext

  init(_ worker: WorkerContext) { self.worker = worker }

  /// Registers, waits until records had to go, and then reads: the first thing it hears must be "everything".
  func run(_ db: BoutiqueDB) async {
    while !worker.shouldEnd {
      await worker.attempt("register", client: 4, expects: Self.isInUse) { _ in
        for try await change in db.changes(
          since: try await db.currentToken(), consumer: Self.name, following: false)
        {
          try await change.acknowledge()
        }
        return []
      }
      var isCutOff = false
      while !worker.shouldEnd, !isCutOff {
        try? await Task.sleep(for: .milliseconds(50))
        let status = try? await db.status()
        if let consumer = status?.consumers.first(where: { $0.name == Self.name }) {
          isCutOff = consumer.isCutOff
          if isCutOff, let status { Self.check(status, worker) }
        }
      }
      guard isCutOff else { return }
      await worker.attempt("catch up", client: 4, expects: Self.isInUse) { _ in
        var first: Bool?
        for try await change in db.changes(consumer: Self.name, following: false) {
          if first == nil { first = change.change.isEverything }
          try await change.acknowledge()
        }
        if first == false {
          worker.log.note(
            .violation, "silent gap",
            "records are gone, and the consumer was told of single rows first")
        }
        return []
      }
    }
  }

  /// Records go while a consumer waits for them only where there are more than the hard bound, and that is said.
  private static func check(_ status: DatabaseStatus, _ worker: WorkerContext) {
    if !status.isHardBoundReached {
      worker.log.note(.violation, "log bound", "a consumer is cut off, and status denies it")
    }
    // The newest ones stay, up to the bound.
    if status.loggedCommits < Int64(LongReadersWorkload.hardRows) {
      worker.log.note(
        .violation, "pruned too early",
        "a consumer is cut off, and the log holds only \(status.loggedCommits) commits of the "
          + "\(LongReadersWorkload.hardRows) that wait for it")
    }
  }

  /// The process before, of the same place, may not be quite gone.
  private static func isInUse(_ error: any Error) -> Bool {
    if case BoutiqueError.consumerInUse = error { return true }
    return false
  }
}
