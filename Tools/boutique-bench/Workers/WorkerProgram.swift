import CommandLineSupport

/// What a worker process does from its start to its end.
enum WorkerProgram {
  /// The hidden subcommand that makes this program a worker.
  static let word = "worker"

  /// Follows the coordinator's orders; what goes wrong is told to it.
  static func run() async -> ExitStatus {
    let link = WorkerLink()
    do {
      let figures = try await figures(of: try JSONLine.value(await link.nextLine()), link)
      try link.tell(.result, figures)
      return .success
    } catch {
      try? link.tell(.failure, text: "\(error)")
      return .failure
    }
  }

  private static func figures(
    of orders: WorkerOrders, _ link: WorkerLink
  ) async throws -> [String: [Int64]] {
    switch orders {
    case .contention(let orders): try await ContentionWorker(orders: orders, link: link).run()
    case .handover(let orders): try await HandoverWorker(orders: orders, link: link).run()
    case .waiting(let orders): try await WaitingWorker(orders: orders, link: link).run()
    case .observer(let orders): try await ObserverWorker(orders: orders, link: link).run()
    case .idle(let orders): try await IdleWorker(orders: orders, link: link).run()
    case .liveWriter(let orders): try await LiveWriterWorker(orders: orders, link: link).run()
    case .capture(let orders): try await CaptureWorker(orders: orders, link: link).run()
    case .store(let orders): try await StoreWorker(orders: orders, link: link).run()
    case .rows(let orders): try await RowsWorker(orders: orders, link: link).run()
    case .models(let orders): try await ModelsWorker(orders: orders, link: link).run()
    case .stream(let orders): try await StreamWorker(orders: orders, link: link).run()
    case .list(let orders): try await ListWorker(orders: orders, link: link).run()
    }
  }
}
