import Synchronization

/// The children of one test.
package final class ChildProcesses: Sendable {
  private let children = Mutex<[ChildProcess]>([])

  fileprivate init() {}

  /// Starts a program that ends with the test at the latest.
  package func start(_ command: ChildCommand) async throws(ChildFailure) -> ChildProcess {
    let child = try await ChildProcess.start(command)
    children.withLock { $0.append(child) }
    return child
  }

  /// Starts a program that this package builds.
  package func start(
    built name: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) async throws(ChildFailure) -> ChildProcess {
    try await start(
      ChildCommand(try BuiltExecutable.path(name), arguments, environment: environment))
  }

  fileprivate func endAll() async {
    let all = children.withLock { $0 }
    for child in all { child.kill() }
    for child in all { await child.end() }
  }
}

/// Gives a test children of its own; however the test ends, they are killed and reaped after it.
package func withChildProcesses<Result: Sendable>(
  _ body: (ChildProcesses) async throws -> Result
) async throws -> Result {
  let children = ChildProcesses()
  do {
    let result = try await body(children)
    await children.endAll()
    return result
  } catch {
    await children.endAll()
    throw error
  }
}
