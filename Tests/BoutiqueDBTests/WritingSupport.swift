import BoutiqueDB
import Dispatch
import Synchronization
import Testing

/// A write that keeps the writer thread busy until it is let go, and then leaves nothing.
///
/// While it runs, other writes can be put in line in a known order.
final class BusyWriter: Sendable {
  struct Done: Error {}

  private let goOn: DispatchSemaphore
  private let db: BoutiqueDB
  private let task: Task<Void, Never>

  /// Starts the write; returns when its closure runs.
  init(_ db: BoutiqueDB) async {
    let isRunning = Signal()
    let goOn = DispatchSemaphore(value: 0)
    self.db = db
    self.goOn = goOn
    task = Task {
      _ = try? await db.write { _ in
        isRunning.set()
        goOn.wait()
        throw Done()
      }
    }
    await isRunning.wait()
  }

  // A test that fails meanwhile must come to its end.
  deinit { goOn.signal() }

  /// Puts a write in line behind all that are there.
  func queue<R: Sendable>(_ write: @escaping @Sendable (BoutiqueDB) async throws -> R) async throws
    -> Task<R, any Error>
  {
    let before = db.waitingWriteCount
    let db = db
    let task = Task { try await write(db) }
    try await eventually { db.waitingWriteCount > before }
    return task
  }

  /// Lets the write end.
  func release() async {
    goOn.signal()
    await task.value
  }
}

/// Something that happens once and can be waited for.
final class Signal: Sendable {
  private struct State {
    var isSet = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  var isSet: Bool { state.withLock(\.isSet) }

  func set() {
    let waiting = state.withLock { state in
      state.isSet = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isSet = state.withLock { state in
        if !state.isSet { state.waiting.append(continuation) }
        return state.isSet
      }
      if isSet { continuation.resume() }
    }
  }
}

/// A list that closures of several threads add to.
final class Notes<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])
  var all: [Element] { list.withLock { $0 } }
  func add(_ element: Element) { list.withLock { $0.append(element) } }
}

struct NeverCame: Error {}

/// Waits until something holds, for a generous while: other suites of the process may keep the pool's few
/// threads busy for long.
func eventually(_ condition: @Sendable () async throws -> Bool) async throws {
  let clock = ContinuousClock()
  let bound = clock.now + .seconds(180)
  while clock.now < bound {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(1))
  }
  throw NeverCame()
}

extension BoutiqueConfiguration {
  /// Groups are bounded by their number alone, however slow the machine is.
  static func groups(of limit: Int) -> BoutiqueConfiguration {
    var configuration = BoutiqueConfiguration()
    configuration.groupCommitLimit = limit
    configuration.leaseQuantum = .seconds(60)
    // Nobody gives up while the pool's threads are busy elsewhere.
    configuration.writeLockTimeout = .seconds(600)
    return configuration
  }
}
