import Foundation
import Synchronization

/// Runs a blocking call on a thread made for it, so that no thread of the cooperative pool waits.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// The one thread that starts children.
///
/// A child that asked to die with its parent (`PR_SET_PDEATHSIG`, prctl(2)) is killed when the
/// *thread* that made it ends, and threads of the cooperative pool come and go. This one never ends.
final class SpawningThread: Sendable {
  static let shared = SpawningThread()

  private typealias Job = @Sendable () -> Void

  private let jobs = Mutex<[Job]>([])
  /// Counts the jobs that were added.
  private let added = DispatchSemaphore(value: 0)

  private init() {
    Thread.detachNewThread { [self] in
      while true {
        added.wait()
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?()
      }
    }
  }

  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      jobs.withLock { $0.append { continuation.resume(returning: body()) } }
      added.signal()
    }
  }
}
