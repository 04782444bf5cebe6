import Foundation

/// Threads for calls that block, which must not hold up Swift's own.
enum OwnThread {
  /// Runs `body` on a new thread.
  static func start(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }

  /// Runs `body` on a new thread and suspends until it has ended.
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Swift.Result(catching: body)) }
    }
  }
}
