import FaultPoints
import SQLiteConnection
import Synchronization

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
  /// How long reads of its kind take; told when it has run.
  let pace: ReadPace?
  /// What is kept of live queries, for the read of one.
  private let kept: KeptResults?
  /// Whether nobody has begun or given up the read yet.
  private let isWaiting = Atomic(true)
  private let isAnswered: (@Sendable () -> Bool)?
  private let body: @Sendable (BoutiqueConnection) throws -> Void
  private let completion: @Sendable (Result<Snapshot?, any Error>) -> Void

  /// - Parameters:
  ///   - pace: is told how long it took.
  ///   - kept: what is kept of live queries, for the read of one: then the completion gets a snapshot's
  ///     description.
  ///   - isAnswered: asked on the thread of the read, before its snapshot: whether another read answers this
  ///     one, so that nothing remains to do and the completion is not called.
  ///   - completion: called exactly once: on the thread that did the read, or on the one that cancelled it
  ///     before it began.
  init(
    pace: ReadPace? = nil, observingWith kept: KeptResults? = nil,
    isAnswered: (@Sendable () -> Bool)? = nil,
    body: @escaping @Sendable (BoutiqueConnection) throws -> Void,
    completion: @escaping @Sendable (Result<Snapshot?, any Error>) -> Void
  ) {
    self.pace = pace
    self.kept = kept
    self.isAnswered = isAnswered
    self.body = body
    self.completion = completion
  }

  /// Takes the read out of the line for good.
  ///
  /// - Returns: false when somebody has done so before.
  func begin() -> Bool { isWaiting.exchange(false, ordering: .acquiringAndReleasing) }

  /// Ends a read that has not begun.
  func fail(_ error: any Error) {
    if begin() { completion(.failure(error)) }
  }

  /// Cancels the read: at once when it still waits, else by interrupting it.
  func cancel() {
    cancellation.cancel()
    fail(CancellationError())
  }

  /// Runs the read in one deferred transaction, which is one snapshot.
  ///
  /// Does nothing when it was cancelled while it waited.
  ///
  /// - Parameters:
  ///   - isShared: whether the connection also writes, so that writing has to be switched off.
  ///   - willComplete: called once, when the connection is not needed any more, before anybody hears of the
  ///     result.
  func run(
    on sqlite: Connection, limits: StatementLimits, isShared: Bool,
    willComplete: () -> Void = {}
  ) {
    guard begin() else {
      willComplete()
      return
    }
    if let isAnswered, isAnswered() {
      willComplete()
      return
    }
    guard cancellation.begin(sqlite.interruption) else {
      willComplete()
      completion(.failure(CancellationError()))
      return
    }
    let start = pace == nil ? nil : MonotonicTime.now()
    limits.cancellation = cancellation
    var connection: BoutiqueConnection?
    let result = Result { () throws -> Snapshot? in
      if isShared { try sqlite.execute("PRAGMA query_only = 1") }
      let observed = try kept.map { try beginObserved(on: sqlite, limits.schema, keeping: $0) }
      if observed == nil, !Sabotage.tornRead.isOn { try sqlite.execute("BEGIN") }
      let made = BoutiqueConnection(
        sqlite: sqlite, role: .read, recorder: observed?.recorder, observed: observed,
        cancellation: cancellation)
      connection = made
      try body(made)
      return try observed.map {
        Snapshot(region: try $0.recorder.region(), token: $0.token)
      }
    }
    connection?.end()
    let wasCancelled = !cancellation.end()
    // What follows puts the connection back into order for the next one.
    limits.cancellation = nil
    ImmediateTransaction.rollback(on: sqlite)
    if isShared { try? sqlite.execute("PRAGMA query_only = 0") }
    if let pace, let start {
      pace.note(nanoseconds: MonotonicTime.now().nanoseconds - start.nanoseconds)
    }
    let path = sqlite.path
    willComplete()
    completion(
      result.mapError { error in
        if wasCancelled { return CancellationError() }
        return BoutiqueError.translate(error, path: path)
      })
  }

  /// Takes the snapshot, if it can be so that its place among all commits is known.
  private func beginObserved(
    on sqlite: Connection, _ schema: SchemaObjects, keeping kept: KeptResults
  ) throws -> ObservedRead {
    var token: Int64 = 0
    var counter: UInt32?
    // Before the first read a connection knows no counter; and somebody may commit just now.
    for attempt in 1...4 {
      let before = sqlite.walIndexHeader()?.change
      try sqlite.execute("BEGIN")
      // Before the closure, in the same snapshot: the token may be older than the value, never newer.
      token = try ChangeReader.newestToken(on: sqlite)
      let after = sqlite.walIndexHeader()?.change
      if before == after {
        counter = after
        break
      }
      if attempt < 4 { try sqlite.execute("ROLLBACK") }
    }
    if Sabotage.tornRead.isOn { try sqlite.execute("COMMIT") }
    return ObservedRead(
      schema: schema, recorder: try RegionRecorder(schema: schema, on: sqlite), token: token,
      counter: counter, kept: kept)
  }
}
