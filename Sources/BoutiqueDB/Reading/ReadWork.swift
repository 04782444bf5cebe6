import SQLiteConnection

/// What a read found out beside its result.
struct Snapshot: Sendable {
  /// The tables and columns that the statements read.
  var region: TableRegion
  /// The newest commit that the snapshot holds.
  var token: Int64
}

/// A read on its way to a connection.
final class ReadWork: Sendable {
  let cancellation = CancellationFlag()
  private let recordsRegion: Bool
  private let body: @Sendable (BoutiqueConnection) throws -> Void
  private let completion: @Sendable (Result<Snapshot?, any Error>) -> Void

  /// - Parameters:
  ///   - recordsRegion: whether the completion gets a snapshot's description.
  ///   - completion: called exactly once, on the thread that did the read.
  init(
    recordsRegion: Bool = false, _ body: @escaping @Sendable (BoutiqueConnection) throws -> Void,
    completion: @escaping @Sendable (Result<Snapshot?, any Error>) -> Void
  ) {
    self.recordsRegion = recordsRegion
    self.body = body
    self.completion = completion
  }

  func fail(_ error: any Error) { completion(.failure(error)) }

  /// Runs the read in one deferred transaction, which is one snapshot.
  ///
  /// - Parameter isShared: whether the connection also writes, so that writing has to be switched off.
  func run(on sqlite: Connection, limits: StatementLimits, isShared: Bool) {
    limits.cancellation = cancellation
    defer { limits.cancellation = nil }
    guard cancellation.begin(sqlite.interruption) else {
      completion(.failure(CancellationError()))
      return
    }
    let connection = BoutiqueConnection(
      sqlite: sqlite, role: .read, recordsRegion: recordsRegion, cancellation: cancellation)
    let result = Result { () throws -> Snapshot? in
      if isShared { try sqlite.execute("PRAGMA query_only = 1") }
      try sqlite.execute("BEGIN")
      // Before the closure, in the same snapshot: the token may be older than the value, never newer.
      let token = recordsRegion ? try ChangeReader.newestToken(on: sqlite) : 0
      try body(connection)
      return connection.region.map { Snapshot(region: $0, token: token) }
    }
    connection.end()
    let wasCancelled = !cancellation.end()
    ImmediateTransaction.rollback(on: sqlite)
    if isShared { try? sqlite.execute("PRAGMA query_only = 0") }
    completion(
      result.mapError { error in
        if wasCancelled { return CancellationError() }
        return BoutiqueError.translate(error, path: sqlite.path)
      })
  }
}
