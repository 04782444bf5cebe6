import CLinuxShims

/// Keeps the watches in step with the databases that somebody listens to; starts over when it has
/// to, and tries again when it cannot.
///
/// Confined to the watcher's thread.
struct WatchSetup {
  private let calls: InotifyCalls
  private let firstRetry: Int
  private var table: WatchTable
  /// Why the library does not run, nil while it runs.
  private var refusal: String?
  private var isRunning = false
  /// Why a database cannot be watched.
  private var failed: [String: String] = [:]
  private var mustRebuild = true
  private var retryAt = BootClock.Instant(nanoseconds: 0)
  private var retrySeconds: Int

  init(calls: InotifyCalls, firstRetry: Int) {
    self.calls = calls
    self.firstRetry = firstRetry
    retrySeconds = firstRetry
    table = WatchTable(calls: calls)
  }

  /// How a database's bell is heard at present.
  func mode(of path: String) -> BellMode {
    (refusal ?? failed[path]).map { .pollingOnly(reason: $0) } ?? .inotify
  }

  /// Stops the library and drops all watches with it.
  mutating func tearDown() {
    if isRunning { calls.stop() }
    isRunning = false
    refusal = nil
    failed = [:]
    table.clear()
    mustRebuild = true
    retrySeconds = firstRetry
  }

  /// Sets the watches for exactly these databases.
  ///
  /// - Returns: Whether watches that were there had to be set up again: events may have been lost.
  mutating func bringUp(to wanted: Set<String>) -> Bool {
    let isRetry = refusal != nil || !failed.isEmpty
    if isRetry, BootClock.now() >= retryAt { mustRebuild = true }
    // A watch cannot be taken back (`Inotify.swift`, 4), so leaving means starting over.
    if !table.paths.isSubset(of: wanted) { mustRebuild = true }
    var isAnew = false
    if mustRebuild {
      isAnew = !table.paths.isEmpty
      if isRunning { calls.stop() }
      table.clear()
      failed = [:]
      refusal = calls.start()
      isRunning = refusal == nil
      mustRebuild = false
    }
    if isRunning {
      for path in wanted.subtracting(table.paths).sorted() {
        if let reason = table.add(path) { failed[path] = reason }
      }
    }
    if refusal == nil, failed.isEmpty {
      retrySeconds = firstRetry
    } else if BootClock.now() >= retryAt {
      // Less and less often: what is refused for want of rights will stay so.
      retryAt = BootClock.now(advancedBy: .seconds(retrySeconds))
      retrySeconds = min(60, retrySeconds * 2)
    }
    return isAnew
  }

  /// Waits for an event, a wake-up or the next try.
  mutating func waitForEvent(control: GuardedDescriptor?) -> [WatchTable.Delivery] {
    if isRunning {
      let event = calls.next(failed.isEmpty ? -1 : secondsToRetry)
      if let control { clx_drain_eventfd(control.number) }
      guard let event else { return [] }
      let outcome = table.note(event)
      if outcome.mustRebuild { mustRebuild = true }
      return outcome.events
    }
    let left = BootClock.now().duration(to: retryAt).clampedNanoseconds
    _ = clx_wait(control?.number ?? -1, -1, max(1_000_000, left))
    if let control { clx_drain_eventfd(control.number) }
    return []
  }

  private var secondsToRetry: Int {
    let left = BootClock.now().duration(to: retryAt).clampedNanoseconds
    return Int(max(1, left / 1_000_000_000 + 1))
  }
}
