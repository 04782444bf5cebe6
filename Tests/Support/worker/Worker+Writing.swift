import BoutiqueDB
import Foundation
import Glibc
import ProcessHarness
import Synchronization

/// Thrown by a closure that was told to fail.
struct PlannedFailure: Error {}

/// A transaction that waits inside its closure until the harness lets it go.
final class HeldTransaction: Sendable {
  private let released = DispatchSemaphore(value: 0)
  private let throwing = Mutex(false)

  func release(throwing: Bool) {
    self.throwing.withLock { $0 = throwing }
    released.signal()
  }

  /// Blocks the database's thread, as any long closure does.
  func wait() throws {
    released.wait()
    if throwing.withLock({ $0 }) { throw PlannedFailure() }
  }
}

extension Worker {
  /// `increment`: runs one statement many times, each in a transaction of its own.
  ///
  /// sql, times, tasks (how many at once, 1).
  func increment(_ command: Command) async throws -> [String: JSONValue] {
    let sql = try command.text("sql")
    let times = try command.integer("times")
    let tasks = command["tasks"]?.int ?? 1
    let database = try database()
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          for _ in 0..<(times / tasks + (task < times % tasks ? 1 : 0)) {
            try await database.write { _ = try $0.execute(sql) }
          }
        }
      }
      try await group.waitForAll()
    }
    return [:]
  }

  /// `append`: adds numbers and acknowledges each one only after its commit has returned.
  ///
  /// writer, from, count (without: until cancelled), perSecond; sql: statements to run in the same
  /// transaction. Adds (writer, number) to the table `log` and emits `ack` with the number.
  func append(_ command: Command) async throws -> [String: JSONValue] {
    let writer = try command.text("writer")
    let first = command["from"]?.int ?? 1
    let end = command["count"]?.int.map { first + $0 } ?? Int.max
    let more = command.texts("sql")
    let pause = command["perSecond"]?.int.map { Duration.seconds(1) / $0 }
    let database = try database()
    let clock = ContinuousClock()
    var due = clock.now
    for number in first..<end {
      try await database.write { connection in
        try connection.execute("INSERT INTO log (writer, number) VALUES (?, ?)", writer, number)
        for statement in more { try connection.execute(statement) }
      }
      command.emit("ack", ["number": .integer(Int64(number))])
      try Task.checkCancellation()
      if let pause {
        due += pause
        if due > clock.now { try await clock.sleep(until: due) }
      }
    }
    return [:]
  }

  /// `flood`: appends as `append` does, from many tasks at once, each with numbers of its own.
  ///
  /// writer, tasks, sql. Until cancelled.
  func flood(_ command: Command) async throws -> [String: JSONValue] {
    let writer = try command.text("writer")
    let tasks = try command.integer("tasks")
    let more = command.texts("sql")
    let database = try database()
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: task, to: Int.max - tasks, by: tasks) {
            try await database.write { connection in
              try connection.execute(
                "INSERT INTO log (writer, number) VALUES (?, ?)", writer, number)
              for statement in more { try connection.execute(statement) }
            }
            command.emit("ack", ["number": .integer(Int64(number))])
          }
        }
      }
      try await group.waitForAll()
    }
    return [:]
  }

  /// `transact`: runs statements in one transaction that ends as it is told.
  ///
  /// sql; end, what the closure does then: `commit`, `throw`, `crash`, `cancel` (its own task, and
  /// looks), `rollBackSavepoint` (the statements stood in one).
  func transact(_ command: Command) async throws -> [String: JSONValue] {
    let statements = command.texts("sql")
    let end = command["end"]?.string ?? "commit"
    try await database().write { connection in
      if end == "rollBackSavepoint" {
        try? connection.savepoint {
          for statement in statements { try connection.execute(statement) }
          throw PlannedFailure()
        }
        return
      }
      for statement in statements { try connection.execute(statement) }
      switch end {
      case "throw": throw PlannedFailure()
      case "crash": kill(getpid(), SIGKILL)
      case "cancel":
        self.cancelTask(command.id)
        try connection.checkCancellation()
      default: break
      }
    }
    return [:]
  }

  /// `hold`: stays inside a transaction until `release`.
  ///
  /// sql, statements to run first; background. Emits `holding` once they ran.
  func hold(_ command: Command) async throws -> [String: JSONValue] {
    let statements = command.texts("sql")
    let held = HeldTransaction()
    setHeld(held, by: command.id)
    defer { setHeld(nil, by: command.id) }
    let priority: WritePriority = command["background"] == true ? .background : .normal
    try await database().write(priority: priority) { connection in
      for statement in statements { try connection.execute(statement) }
      command.emit("holding")
      try held.wait()
    }
    return [:]
  }
}
