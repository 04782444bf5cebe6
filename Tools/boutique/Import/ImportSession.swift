import BoutiqueDB
import CommandLineSupport
import Synchronization

/// The state of one import: where the file is read and how many rows were inserted.
///
/// One thread at a time uses it, the command's or the database's writer.
final class ImportSession: Sendable {
  private struct State {
    var source: any RowSource
    /// Rows read ahead, to be inserted first.
    var pending: ArraySlice<ImportRow> = []
    var count = 0
  }

  /// The size of a regular file; nil for a pipe, which can be read once only.
  let fileSize: Int64?

  private let file: ImportFile
  private let progress: ProgressLine?
  private let lock = Mutex(())
  // Safe, since it is used under `lock` only, by `withState`.
  private nonisolated(unsafe) var state: State

  /// Opens the file and reads its header line.
  init(
    _ file: ImportFile, progress: (_ totalBytes: Int64?) -> ProgressLine?
  ) throws(MalformedInput) {
    let input = try file.open()
    fileSize = input.fileSize
    self.file = file
    self.progress = progress(input.fileSize)
    state = State(source: try file.rows(input))
  }

  /// The number of rows inserted so far.
  var count: Int { withState { $0.count } }

  // `Mutex` would not let the rows go into the connection: it cannot see that neither keeps the other.
  private func withState<R: Sendable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> R
  ) throws(Failure) -> R {
    try lock.withLock { _ throws(Failure) in try body(&state) }
  }

  // MARK: Before anything is written

  /// Finds types for the columns: from all rows of a regular file, from the first `sample` rows of a
  /// pipe, which are kept to be inserted.
  func inferTypes(sample: Int) throws(MalformedInput) -> TypeInference {
    try withState { (state: inout State) throws(MalformedInput) in
      guard fileSize != nil else {
        var inference = TypeInference(columns: state.source.columns ?? [])
        while state.pending.count < sample, let row = try state.source.next() {
          inference.add(row)
          state.pending.append(row)
        }
        return inference
      }
      var source = try file.rows(try file.open())
      var inference = TypeInference(columns: source.columns ?? [])
      try source.infer(into: &inference)
      return inference
    }
  }

  /// Compares the names that the file gives with the table's columns; a file that gives none takes
  /// the table's.
  func adopt(_ table: TargetTable) throws(MalformedInput) {
    try withState { (state: inout State) throws(MalformedInput) in
      guard let names = state.source.columns else {
        state.source.columns = table.columns
        return
      }
      for (index, name) in names.enumerated() {
        guard let complaint = table.complaint(about: name) else { continue }
        let places = state.source.headerPlaces
        let place = index < places.count ? places[index] : ImportRow.Place(line: 1, column: 1)
        throw MalformedInput(line: place.line, column: place.column, reason: .other(complaint))
      }
    }
  }

  // MARK: All rows in one transaction

  /// Inserts all rows of the file, reading it row by row.
  func insertAll(_ plan: ImportPlan, on connection: BoutiqueConnection) throws {
    try withState { state in
      // The file can be read once only; a transaction tried again would find the rest of it.
      guard state.count == 0 else { throw CommandFailure("the import was begun twice") }
      var inserter = RowInserter(
        table: try plan.table(isFirst: true, on: connection), on: connection)
      while plan.isSampled || !state.pending.isEmpty, let row = try Self.next(&state, plan) {
        try inserter.insert(row)
        try inserted(&state.count, state.source.bytesRead, on: connection)
      }
      var count = state.count
      defer { state.count = count }
      try state.source.insertAll(with: &inserter) { bytesRead in
        try inserted(&count, bytesRead, on: connection)
      }
    }
  }

  private func inserted(
    _ count: inout Int, _ bytesRead: Int64, on connection: BoutiqueConnection
  ) throws {
    count += 1
    guard count.isMultiple(of: 256) else { return }
    try connection.checkCancellation()
    progress?.update(count: Int64(count), bytes: bytesRead)
  }

  // MARK: Rows in batches

  /// Takes up to `limit` rows out of the file, to be inserted by ``insert(_:_:on:)``.
  func take(_ limit: Int, _ plan: ImportPlan) throws(MalformedInput) -> [ImportRow] {
    try withState { (state: inout State) throws(MalformedInput) in
      var rows: [ImportRow] = []
      while rows.count < limit, let row = try Self.next(&state, plan) { rows.append(row) }
      return rows
    }
  }

  /// Inserts rows that were taken.
  func insert(_ rows: [ImportRow], _ plan: ImportPlan, on connection: BoutiqueConnection) throws {
    var inserter = RowInserter(
      table: try plan.table(isFirst: count == 0, on: connection), on: connection)
    for row in rows { try inserter.insert(row) }
  }

  /// Notes that rows that were taken are committed.
  func committed(_ rows: [ImportRow]) {
    withState { state in
      state.count += rows.count
      report(state)
    }
  }

  // MARK: Progress

  /// Takes the progress off the terminal; returns how many rows were inserted, and how fast.
  func finish() -> String {
    withState { state in
      progress?.finish(count: Int64(state.count), bytes: state.source.bytesRead) ?? ""
    }
  }

  /// Takes the progress off the terminal after a failure.
  func abandon() { progress?.clear() }

  private func report(_ state: State) {
    progress?.update(count: Int64(state.count), bytes: state.source.bytesRead)
  }

  private static func next(
    _ state: inout State, _ plan: ImportPlan
  ) throws(MalformedInput) -> ImportRow? {
    if let row = state.pending.popFirst() { return row }
    guard let row = try state.source.next() else { return nil }
    try plan.check(row)
    return row
  }
}
