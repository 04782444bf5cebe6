import Glibc
import Synchronization

/// A daemon as the coordinator knows it: the process and what it has told.
final class DaemonLink: Sendable {
  private struct State {
    var seen: Int64?
    var indexer: IndexerAccount?
    var reporter: ReporterAccount?
  }

  let child: ChildProcess
  private let state = Mutex(State())

  /// Starts this same program as a daemon.
  init(_ orders: DaemonOrders) throws {
    child = try ChildProcess(
      label: orders.label, program: Self.program,
      arguments: [DaemonOrders.option, orders.label], voice: .channel)
    // A daemon that is gone already is noticed by its end.
    _ = child.write(try orders.line)
    Task { [self] in
      // A line that cannot be read came from a daemon that was killed while it wrote.
      for await line in child.lines {
        guard let message = try? DaemonMessage(line: line) else { continue }
        state.withLock { state in
          switch message {
          case .seen(let id): state.seen = id
          case .indexer(let account): state.indexer = account
          case .reporter(let account): state.reporter = account
          }
        }
      }
    }
  }

  /// This program's file; by its own name, so that `ps` shows that and not "exe".
  private static var program: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { return "/proc/self/exe" }
    let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // A build that ran meanwhile has replaced the file.
    return access(path, X_OK) == 0 ? path : "/proc/self/exe"
  }

  /// The indexer's account, once it has ended well.
  var indexerAccount: IndexerAccount? { state.withLock { $0.indexer } }

  /// The reporter's account, once it has ended well.
  var reporterAccount: ReporterAccount? { state.withLock { $0.reporter } }

  /// Waits until the reporter has delivered a value that includes a commit.
  ///
  /// - Returns: false when it ended before, or when the time is over.
  func waitUntilSeen(_ id: Int64, seconds: Int64) async -> Bool {
    let deadline = Clock.monotonic() + seconds * 1_000_000_000
    while true {
      if let seen = state.withLock({ $0.seen }), seen >= id { return true }
      if child.endingSoFar != nil || Clock.monotonic() > deadline { return false }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }
}
