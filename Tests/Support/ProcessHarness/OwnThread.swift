import Foundation
import Glibc
import Synchronization

/// Runs a blocking call on a thread made for it, so that no thread of the cooperative pool waits.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Task { await startThread { continuation.resume(returning: body()) } }
  }
}

/// Starts a thread that nobody waits for, again and again while the system has none to give.
///
/// `Thread.detachNewThread` tells nobody that there is none, and what was to be done on it is never done.
func startThread(_ body: @escaping @Sendable () -> Void) async {
  while !tryToStartThread(body) {
    // Also in a cancelled task: somebody waits for what the thread does.
    await Task.detached { try? await Task.sleep(for: .milliseconds(5)) }.value
  }
}

private func tryToStartThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  guard pthread_attr_init(&attributes) == 0 else { return false }
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  let work = Unmanaged.passRetained(Work(body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, &attributes,
    { pointer in
      if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
      return nil
    }, work.toOpaque())
  if code != 0 { work.release() }
  return code == 0
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
    Task {
      await startThread { [self] in
        while true {
          added.wait()
          let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
          job?()
        }
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
