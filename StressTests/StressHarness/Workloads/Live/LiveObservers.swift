import Blackbird
import BoutiqueDB
import Observation
import StressHistory

/// The live queries of a process; each of them begins again when it fails.
struct LiveObservers: Sendable {
  let db: BoutiqueDB
  let models: Blackbird.Database
  let board: LiveBoard

  /// How many queries of one row there are.
  private static let single = 4

  /// Observes until the task is cancelled.
  func run() async {
    for name in ["sql", "slow", "statement", "property", "publisher"] { board.expect(name) }
    for id in 0..<Self.single { board.expect("cell \(id)") }
    await withTaskGroup { group in
      group.addTask { await again("sql") { try await sql() } }
      group.addTask { await again("slow") { try await slow() } }
      group.addTask { await again("statement") { try await statement() } }
      group.addTask { await again("property") { try await property() } }
      group.addTask { await again("publisher") { try await publisher() } }
      for id in 0..<Self.single {
        group.addTask { await again("cell \(id)") { try await cell(id) } }
      }
    }
  }

  private func again(_ name: String, _ body: () async throws -> Void) async {
    while !Task.isCancelled {
      do {
        try await body()
      } catch {
        if Task.isCancelled { return }
        board.failed(name, error)
      }
      board.forget(name)
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  private func sql() async throws {
    var last: LiveState?
    for try await state in db.observe({ try LiveState($0) }) {
      if let last {
        board.measureRefresh(of: state)
        if last == state { board.repeated("sql") }
      }
      last = state
      board.show("sql", state.cells, counter: state.counter)
    }
  }

  /// A query that takes so long that commits fall into its runs.
  private func slow() async throws {
    let states = db.observe { connection -> LiveState in
      let state = try LiveState(connection)
      _ = try connection.query(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
          SELECT count(*) FROM n
        """)
      return state
    }
    for try await state in states { board.show("slow", state.cells, counter: state.counter) }
  }

  private func statement() async throws {
    var last: [LiveCell] = []
    for try await cells in db.observe({ LiveCell.all.order { $0.id.asc() }.asSelect() }) {
      if cells == last { board.repeated("statement") }
      last = cells
      board.show("statement", cells)
    }
  }

  /// A query of one row: only commits that touch that row may wake it, and each of them must.
  private func cell(_ id: Int) async throws {
    for try await cells in db.observe({ LiveCell.where { $0.id.eq(id) }.asSelect() }) {
      if let cell = cells.first { board.show("cell \(id)", cell: cell) }
    }
  }

  @MainActor
  private func property() async throws {
    @LiveQueryOne(db, { try LiveState($0) }) var state: LiveState?
    LiveMainWriter.current = $state
    defer { LiveMainWriter.current = nil }
    for await shown in Observations({ $state.error == nil ? $state.value : nil }) {
      if let error = $state.error { throw error }
      if let shown { board.show("property", shown.cells, counter: shown.counter) }
    }
  }

  /// Reads the models whenever a change is told.
  private func publisher() async throws {
    var changes = LiveCellModel.changePublisher(in: models).makeAsyncIterator()
    // What was there before the first change.
    try await read()
    while try await changes.next() != nil { try await read() }
  }

  private func read() async throws {
    let cells = try await LiveCellModel.read(from: models, orderBy: .ascending(\.$id))
    board.show("publisher", cells.map { LiveCell(id: $0.id, value: $0.value, stamp: $0.stamp) })
  }
}

extension LiveBoard {
  /// Notes how long a commit took to this process's live query.
  func measureRefresh(of state: LiveState) { measure(.refresh, HistoryLog.now() - state.at) }
}
