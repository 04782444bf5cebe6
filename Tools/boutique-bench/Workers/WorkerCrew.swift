import CommandLineSupport
import Glibc
import SharedFileCoordination

/// The workers of one measurement, which begin together.
///
/// Used by the coordinator's thread alone.
final class WorkerCrew {
  /// The workers, in the order of their orders.
  let workers: [WorkerProcess]
  private let timeout: Duration

  /// Starts a worker for each orders; they open what they need and wait for `start`.
  init(_ orders: [(label: String, orders: WorkerOrders)], _ run: BenchRun) throws {
    timeout = run.timeout
    workers = try orders.map {
      try WorkerProcess(label: $0.label, orders: $0.orders, keeper: run.keeper)
    }
  }

  /// Runs workers that need no further word, and returns what each told.
  static func results(
    of orders: [(label: String, orders: WorkerOrders)], _ run: BenchRun
  ) throws -> [WorkerMessage] {
    let crew = try WorkerCrew(orders, run)
    try crew.start()
    return try crew.results()
  }

  /// Lets all begin at one moment, once all are ready.
  func start() throws {
    var waiting = Set(workers.indices)
    while !waiting.isEmpty {
      let (index, message) = try next(for: "all workers to be ready")
      guard message.event == .ready else {
        throw BenchFailure("worker \(workers[index].label) is ahead of its start")
      }
      waiting.remove(index)
    }
    // Far enough away that all have read it by then.
    let moment = BootClock.now(advancedBy: .milliseconds(20))
    for worker in workers { try worker.send("start \(moment.nanoseconds)\n") }
  }

  /// Waits until all have told their results; steps are passed over.
  func results() throws -> [WorkerMessage] {
    var results: [Int: WorkerMessage] = [:]
    while results.count < workers.count {
      let (index, message) = try next(for: "the results")
      if message.event == .result { results[index] = message }
    }
    return workers.indices.compactMap { results[$0] }
  }

  /// Waits for the next message of any worker; a worker that fails or dies is an error.
  func next(for awaited: String) throws -> (index: Int, message: WorkerMessage) {
    let deadline = BootClock.now(advancedBy: timeout)
    while true {
      for (index, worker) in workers.enumerated() {
        if let message = try worker.nextMessage() { return (index, message) }
      }
      let live = workers.filter { !$0.hasEnded }
      guard !live.isEmpty else { throw BenchFailure("all workers have ended before \(awaited)") }
      var entries = live.map { pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0) }
      let left = BootClock.now().duration(to: deadline).clampedNanoseconds / 1_000_000
      guard left > 0 else {
        throw BenchFailure(
          "waited \(timeout.inSeconds) s for \(awaited); a longer --timeout may help")
      }
      let count = poll(&entries, nfds_t(entries.count), Int32(clamping: left))
      if count < 0, errno != EINTR { throw BenchFailure("poll: \(SystemMessage.text(errno))") }
      for (entry, worker) in zip(entries, live) where entry.revents != 0 { try worker.receive() }
    }
  }
}
