import Foundation
import SharedFileCoordination
import Testing

/// Serialised, because libinotifytools is one per process.
@Suite(.serialized, .aloneInProcess) struct BellWatcherTests {
  /// The former test's watches are gone, and with them what their end still raises.
  init() throws {
    guard waitForEnd() else { throw TestFailure(text: "the watcher does not end") }
  }

  private func watch(
    _ scratch: Scratch, _ log: Log<BellEvent>, watcher: BellWatcher = .shared
  ) -> BellSubscription {
    watcher.watch(databasePath: scratch.database) { log.append($0) }
  }

  private func waitForEnd(_ watcher: BellWatcher = .shared) -> Bool {
    eventually { !watcher.isRunning }
  }

  private func threadExists() -> Bool {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.contains { task in
      let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
      return name == "boutique-bell\n"
    }
  }

  @Test func `a bell is heard by every listener and by none after it is cancelled`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let first = Log<BellEvent>()
    let second = Log<BellEvent>()
    let one = watch(scratch, first)
    let two = watch(scratch, second)
    #expect(one.mode == .inotify)
    #expect(two.mode == .inotify)
    file.ring()
    #expect(eventually { first.all.contains(.bell) && second.all.contains(.bell) })
    two.cancel()
    two.cancel()
    let heard = second.all.count
    for _ in 0..<20 {
      let before = first.all.filter { $0 == .bell }.count
      file.ring()
      #expect(eventually { first.all.filter { $0 == .bell }.count > before })
    }
    #expect(second.all.count == heard)
    one.cancel()
    #expect(waitForEnd())
    #expect(eventually { !threadExists() })
  }

  @Test func `a turn rings, and taking turns and tickets rings nothing`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    defer { subscription.cancel() }
    for _ in 0..<5 {
      try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false })
        .finish()
      file.publish(token: 5)
    }
    let counter = file.commitCounter
    let turn = try file.writeLease.acquire(
      deadline: soon(), purpose: "", isCancelled: { false })
    turn.ring()
    turn.finish()
    #expect(eventually { log.all.contains(.bell) })
    #expect(log.all == [.bell])
    #expect(file.commitCounter == counter + 1)
  }

  @Test func `a turn rings only while somebody listens, of whatever opening of the lock file`()
    throws
  {
    let scratch = try Scratch()
    let file = try scratch.open()
    func ringInTurn() throws -> UInt64 {
      let before = file.commitCounter
      let turn = try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false })
      turn.ring()
      turn.finish()
      return file.commitCounter - before
    }
    #expect(try ringInTurn() == 0)
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    #expect(try ringInTurn() == 1)
    #expect(eventually { log.all.contains(.bell) })
    // A lock file put in the place of the old one is listened to as well.
    try FileManager.default.removeItem(atPath: scratch.lockFile)
    try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false }).finish()
    #expect(eventually { (try? ringInTurn()) == 1 })
    subscription.cancel()
    #expect(eventually { (try? ringInTurn()) == 0 })
  }

  @Test func `the log is heard when it is there, when it comes, and when it is replaced`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    defer { file.close() }
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    defer { subscription.cancel() }
    let wal = scratch.database + "-wal"
    for round in 0..<3 {
      let count = { log.all.filter { $0 == .writeAheadLogWritten }.count }
      var before = count()
      try scratch.write([1], to: wal)
      #expect(eventually { count() > before }, "round \(round): made")
      let handle = try #require(FileHandle(forWritingAtPath: wal))
      before = count()
      try handle.write(contentsOf: Data([UInt8(round)]))
      #expect(eventually { count() > before }, "round \(round): written")
      try handle.close()
      let changes = log.all.filter { $0 == .filesChanged }.count
      #expect(unlink(wal) == 0)
      #expect(eventually { log.all.filter { $0 == .filesChanged }.count > changes })
    }
  }

  @Test func `files of the database that come and go are told, others are not`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    defer { file.close() }
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    defer { subscription.cancel() }
    try scratch.write([1], to: scratch.path + "/unrelated")
    try scratch.write([1], to: scratch.path + "/app.db-backup")
    file.ring()
    #expect(eventually { log.all.contains(.bell) })
    #expect(log.all == [.bell])
    try scratch.write([1], to: scratch.database)
    #expect(eventually { log.all.contains(.filesChanged) })
    let before = log.all.count
    #expect(rename(scratch.database, scratch.path + "/elsewhere") == 0)
    #expect(eventually { log.all.count > before })
  }

  @Test func `a lock file that is replaced is told, and the new one's bell is heard`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    defer { subscription.cancel() }
    for _ in 0..<3 {
      let changes = log.all.filter { $0 == .filesChanged }.count
      #expect(unlink(scratch.lockFile) == 0)
      #expect(eventually { log.all.filter { $0 == .filesChanged }.count > changes })
      // The next turn makes the file again; its bell is heard once the watch is set.
      try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false })
        .finish()
      let before = log.all.filter { $0 == .bell }.count
      #expect(
        eventually {
          file.ring()
          return log.all.filter { $0 == .bell }.count > before
        })
    }
    #expect(subscription.mode == .inotify)
  }

  @Test func `lost events make everybody check everything`() throws {
    let scratch = try Scratch()
    let quiet = try Scratch()
    let file = try scratch.open()
    let other = try quiet.open()
    defer { other.close() }
    let log = Log<BellEvent>()
    let quietLog = Log<BellEvent>()
    let mayGoOn = Flag()
    let isBlocked = Flag()
    // Blocking the watcher's thread is what a handler must not do; here it fills the queue.
    let subscription = BellWatcher.shared.watch(databasePath: scratch.database) { event in
      log.append(event)
      isBlocked.set()
      while !mayGoOn.isSet { usleep(1000) }
    }
    defer { subscription.cancel() }
    let wal = scratch.database + "-wal"
    let quietSubscription = watch(quiet, quietLog)
    defer { quietSubscription.cancel() }
    file.ring()
    #expect(eventually { isBlocked.isSet })
    let limit =
      (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
      .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 16_384
    // Equal neighbours become one event; two kinds in turn do not.
    for _ in 0..<(limit / 2 + 100) {
      file.ring()
      unlink(wal)
      close(open(wal, O_CREAT | O_WRONLY, 0o600))
    }
    mayGoOn.set()
    #expect(eventually { log.all.contains(.overflow) && quietLog.all.contains(.overflow) })
    let before = log.all.count
    #expect(
      eventually {
        file.ring()
        return log.all.dropFirst(before).contains(.bell)
      })
  }

  @Test func `listeners of other databases are not disturbed by one that leaves`() throws {
    let scratches = try (0..<3).map { _ in try Scratch() }
    let files = try scratches.map { try $0.open() }
    let logs = scratches.map { _ in Log<BellEvent>() }
    var subscriptions = zip(scratches, logs).map { watch($0, $1) }
    subscriptions.removeFirst().cancel()
    for (file, log) in zip(files, logs).dropFirst() {
      // Those that come while the watches are set up anew are told as an overflow instead.
      #expect(
        eventually {
          file.ring()
          return log.all.contains(.bell)
        })
    }
    files[0].ring()
    for subscription in subscriptions { subscription.cancel() }
    #expect(waitForEnd())
    #expect(logs[0].all.isEmpty)
  }

  @Test func `two databases in one directory are told apart`() throws {
    let scratch = try Scratch()
    let second = scratch.path + "/second.db"
    let one = try scratch.open()
    let two = try CoordinationFile(databasePath: second)
    defer { one.close() }
    let firstLog = Log<BellEvent>()
    let secondLog = Log<BellEvent>()
    let a = watch(scratch, firstLog)
    let b = BellWatcher.shared.watch(databasePath: second) { secondLog.append($0) }
    defer { a.cancel() }
    two.ring()
    #expect(eventually { secondLog.all.contains(.bell) })
    #expect(firstLog.all.isEmpty)
    b.cancel()
  }

  @Test func `a handler may add and cancel listeners`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let log = Log<BellEvent>()
    let inner = Log<BellSubscription>()
    let subscription = watch(scratch, log)
    let outer = BellWatcher.shared.watch(databasePath: scratch.database) { _ in
      guard inner.all.isEmpty else { return }
      inner.append(
        BellWatcher.shared.watch(databasePath: scratch.database) { log.append($0) })
    }
    file.ring()
    #expect(eventually { inner.all.count == 1 })
    let before = log.all.count
    #expect(eventually { inner.all.first?.mode == .inotify })
    file.ring()
    #expect(eventually { log.all.count >= before + 2 })
    for subscription in inner.all + [outer, subscription] { subscription.cancel() }
    #expect(waitForEnd())
  }

  @Test func `without descriptors below 1024 there is polling and the program lives`() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(7), &limit)
    let wanted = rlim_t(4096)
    guard limit.rlim_max >= wanted else { return }
    limit.rlim_cur = wanted
    setrlimit(__rlimit_resource_t(7), &limit)
    let scratch = try Scratch()
    let file = try scratch.open()
    defer { file.close() }
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while let last = Optional(open("/dev/null", O_RDONLY | O_CLOEXEC)), last >= 0 {
      taken.append(last)
      if last > 1100 { break }
    }
    #expect(waitForEnd())
    let log = Log<BellEvent>()
    let subscription = watch(scratch, log)
    defer { subscription.cancel() }
    guard case .pollingOnly(let reason) = subscription.mode else {
      Issue.record("\(subscription.mode)")
      return
    }
    #expect(reason.contains("1024"))
    // Had there been room at the look and none at the start, it is seen before anything waits.
    let calls = InotifyCalls.library(highestDescriptor: .max)
    #expect(calls.start()?.contains("1024") == true)
    for descriptor in taken { close(descriptor) }
    taken = []
    // It is tried again now and then, and said when it works.
    #expect(eventually { log.all.contains(.modeChanged(.inotify)) })
    file.ring()
    #expect(eventually { log.all.contains(.bell) })
  }
}

/// The watcher on a played kernel.
@Suite struct BellWatcherFallbackTests {
  /// Hands out events that a test puts in, and refuses what it is told to refuse.
  private final class Kernel: @unchecked Sendable {
    // Guarded by `lock`.
    private let lock = NSCondition()
    private var events: [InotifyEvent?] = []
    private var startRefusal: String?
    private var watchRefusal: String?
    private var watches: [String] = []
    private var starts = 0
    private var stops = 0

    func change(start: String? = nil, watch: String? = nil) {
      lock.withLock {
        startRefusal = start
        watchRefusal = watch
      }
    }

    func put(_ event: InotifyEvent?) {
      lock.lock()
      events.append(event)
      lock.signal()
      lock.unlock()
    }

    var counts: (starts: Int, stops: Int) { lock.withLock { (starts, stops) } }
    func number(of path: String) -> Int32? {
      lock.withLock { watches.firstIndex(of: path).map { Int32($0 + 1) } }
    }

    var calls: InotifyCalls {
      InotifyCalls(
        start: { [self] in
          lock.withLock {
            if startRefusal == nil { starts += 1 }
            return startRefusal
          }
        },
        stop: { [self] in
          lock.withLock {
            stops += 1
            watches = []
          }
        },
        watch: { [self] path, _ in
          lock.withLock {
            if let watchRefusal { return .refused(reason: watchRefusal) }
            watches.append(path)
            return .watching(Int32(watches.count))
          }
        },
        next: { [self] seconds in
          lock.lock()
          defer { lock.unlock() }
          let end = Date().addingTimeInterval(seconds < 0 ? 3600 : Double(seconds))
          while events.isEmpty {
            if !lock.wait(until: end) { return nil }
          }
          return events.removeFirst()
        },
        wake: { [self] in put(nil) })
    }
  }

  private func isPolling(_ mode: BellMode, _ reason: String) -> Bool {
    mode == .pollingOnly(reason: reason)
  }

  @Test func `an overflow reaches every listener`() throws {
    let kernel = Kernel()
    let watcher = BellWatcher(calls: kernel.calls)
    let scratch = try Scratch()
    let log = Log<BellEvent>()
    let subscription = watcher.watch(databasePath: scratch.database) { log.append($0) }
    kernel.put(.overflow)
    #expect(eventually { log.all == [.overflow, .writeAheadLogWritten] })
    subscription.cancel()
    #expect(eventually { !watcher.isRunning })
    #expect(kernel.counts == (1, 1))
  }

  @Test func `no inotify means polling, with the reason, and a new try later`() throws {
    let kernel = Kernel()
    kernel.change(start: "no instances left")
    let watcher = BellWatcher(calls: kernel.calls, retrySeconds: 1)
    let scratch = try Scratch()
    let log = Log<BellEvent>()
    let subscription = watcher.watch(databasePath: scratch.database) { log.append($0) }
    #expect(isPolling(subscription.mode, "no instances left"))
    kernel.change()
    #expect(eventually { log.all.contains(.modeChanged(.inotify)) })
    #expect(subscription.mode == .inotify)
    // What was rung and written meanwhile was not heard.
    #expect(
      eventually { log.all == [.modeChanged(.inotify), .overflow, .writeAheadLogWritten] })
    subscription.cancel()
    #expect(eventually { !watcher.isRunning })
  }

  @Test func `a watch limit means polling for that database, and a new try later`() throws {
    let kernel = Kernel()
    kernel.change(watch: "limit")
    let watcher = BellWatcher(calls: kernel.calls, retrySeconds: 1)
    let scratch = try Scratch()
    let log = Log<BellEvent>()
    let subscription = watcher.watch(databasePath: scratch.database) { log.append($0) }
    guard case .pollingOnly(let reason) = subscription.mode else {
      Issue.record("\(subscription.mode)")
      return
    }
    #expect(reason.contains("limit"))
    kernel.change()
    #expect(eventually { subscription.mode == .inotify })
    #expect(eventually { log.all.contains(.overflow) })
    subscription.cancel()
    #expect(eventually { !watcher.isRunning })
  }

  @Test func `a watch that ended is set again, by starting over`() throws {
    let kernel = Kernel()
    let watcher = BellWatcher(calls: kernel.calls)
    let scratch = try Scratch()
    let file = try scratch.open()
    let log = Log<BellEvent>()
    let subscription = watcher.watch(databasePath: scratch.database) { log.append($0) }
    let number = try #require(kernel.number(of: scratch.lockFile))
    kernel.put(InotifyEvent(watch: number, mask: 0x8000))
    #expect(eventually { kernel.counts.starts == 2 })
    #expect(eventually { log.all == [.filesChanged, .overflow, .writeAheadLogWritten] })
    // A false alarm from before the start: the file is there and is the one that is watched.
    kernel.put(InotifyEvent(watch: number, mask: 0x4))
    #expect(eventually { log.all.last == .bell })
    #expect(kernel.counts.starts == 2)
    subscription.cancel()
    file.close()
    #expect(eventually { !watcher.isRunning })
  }
}
