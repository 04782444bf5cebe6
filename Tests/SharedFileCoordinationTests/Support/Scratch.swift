import Foundation
import SharedFileCoordination

/// A directory of a test's own, gone with it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "boutique-coord-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var database: String { path + "/app.db" }
  var lockFile: String { database + "-lock" }

  func open(
    label: String = "test", slotCount: Int = 128, quantum: Duration = .milliseconds(1),
    lookInterval: Duration = .milliseconds(20), patience: Duration = .milliseconds(100),
    fileMode: UInt32 = 0o600
  ) throws -> CoordinationFile {
    try CoordinationFile(
      databasePath: database,
      options: CoordinationOptions(
        label: label, command: "test command", fileMode: fileMode, quantum: quantum,
        lookInterval: lookInterval, patience: patience, slotCount: slotCount))
  }

  func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}

/// So long a test waits for what has to come: far more than it takes, short of for ever.
let patience = Duration.seconds(20)

func soon() -> BootClock.Instant { BootClock.now(advancedBy: patience) }

/// Waits until a condition holds.
///
/// - Returns: False when it did not come to hold within the test's patience.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = soon()
  while BootClock.now() < end {
    if try condition() { return true }
    usleep(1000)
  }
  return try condition()
}

/// Runs a blocking body on a thread of its own, off the cooperative pool.
func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread {
      continuation.resume(with: Result { try body() })
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
}

/// A thread that a test starts now and asks for its result later.
final class Worker<Value: Sendable>: @unchecked Sendable {
  // Guarded by `lock`.
  private var result: Result<Value, any Error>?
  private let lock = NSCondition()

  init(_ body: @escaping @Sendable () throws -> Value) {
    let thread = Thread { [self] in
      let result = Result { try body() }
      lock.lock()
      self.result = result
      lock.broadcast()
      lock.unlock()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }

  var isDone: Bool {
    lock.lock()
    defer { lock.unlock() }
    return result != nil
  }

  func value() throws -> Value {
    lock.lock()
    defer { lock.unlock() }
    let end = Date().addingTimeInterval(60)
    while result == nil {
      if !lock.wait(until: end) { throw TestFailure(text: "the worker does not end") }
    }
    guard let result else { throw TestFailure(text: "no result") }
    return try result.get()
  }
}

struct TestFailure: Error {
  var text: String
}

/// A list that several threads append to.
final class Log<Element: Sendable>: @unchecked Sendable {
  // Guarded by `lock`.
  private var elements: [Element] = []
  private let lock = NSLock()

  func append(_ element: Element) { lock.withLock { elements.append(element) } }
  var all: [Element] { lock.withLock { elements } }
}

/// A flag that one thread sets and others read.
final class Flag: @unchecked Sendable {
  // Guarded by `lock`.
  private var value = false
  private let lock = NSLock()

  func set() { lock.withLock { value = true } }
  var isSet: Bool { lock.withLock { value } }
}
