import FaultPoints
import SQLiteConnection
import SharedFileCoordination

/// A connection that reads, with what belongs to it.
///
/// `@unchecked Sendable`: one thread at a time uses it, who has got it from the pool under the pool's lock and
/// gives it back under the same lock.
final class Reader: @unchecked Sendable {
  let sqlite: Connection
  let limits: StatementLimits
  /// Its place in the pool.
  let number: Int
  let fork = ForkGuard()
  private let beginning: PreparedStatement
  private let undoing: PreparedStatement

  init(_ sqlite: Connection, _ limits: StatementLimits, number: Int) throws(SQLiteError) {
    self.sqlite = sqlite
    self.limits = limits
    self.number = number
    beginning = try sqlite.prepare("BEGIN")
    undoing = try sqlite.prepare("ROLLBACK")
    beginning.reset()
    undoing.reset()
  }

  /// Whether a snapshot can be taken without a wait: nobody has to recover the log first.
  var isReady: Bool { sqlite.walIndexHeader() != nil }

  /// Begins a transaction; its first statement takes the snapshot.
  func begin() throws(SQLiteError) { try beginning.run() }

  /// Gives the snapshot up.
  ///
  /// - Precondition: nobody can interrupt the connection any more.
  func end() {
    guard sqlite.isInTransaction else { return }
    if (try? undoing.run()) == nil || sqlite.isInTransaction {
      ImmediateTransaction.rollback(on: sqlite)
    }
  }

  /// Runs a closure in one snapshot.
  ///
  /// - Returns: what the closure returns; `CancellationError` instead of what it threw when it was cancelled.
  func run<R>(
    _ cancellation: CancellationFlag, _ body: (BoutiqueConnection) throws -> R
  ) throws -> R {
    guard cancellation.begin(sqlite.interruption) else { throw CancellationError() }
    limits.cancellation = cancellation
    let connection = BoutiqueConnection(
      sqlite: sqlite, role: .read, cancellation: cancellation, fork: fork)
    let result = Result { () throws -> R in
      if !Sabotage.tornRead.isOn { try begin() }
      return try body(connection)
    }
    connection.end()
    let wasCancelled = !cancellation.end()
    // What follows puts the connection back into order for the next one.
    limits.cancellation = nil
    end()
    switch result {
    case .success(let value): return value
    case .failure(let error):
      throw wasCancelled
        ? CancellationError() : BoutiqueError.translate(error, path: sqlite.path)
    }
  }
}
