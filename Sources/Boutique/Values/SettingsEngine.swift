import BoutiqueDB
import Foundation

// What memory knows of one settings database, and how it stays true.
//
// For: every value of the database in this process. Others' commits come as snapshots from the follower,
// this process's own as results from the line, both through the inbox; the main actor shows them.
//
// Invariants
//  1. What is known of the rows never goes back (KnownRows).
//  2. A cell with changes on their way shows them on top of what the last of its own commits left. While
//     there are any it takes no snapshot: the snapshot may hold a change that is still counted as on its
//     way, and it would be shown twice.
//  3. When the last change of a cell has ended it shows what is known.
@MainActor
final class SettingsEngine {
  nonisolated let location: String
  nonisolated let database: SettingsDatabase
  nonisolated let inbox: SettingsInbox
  nonisolated let line: SettingsLine

  private var known = KnownRows()
  /// Why the database cannot be read or followed at present.
  private(set) var trouble: (any Error)?
  /// Whether it was closed; its values find a new one when they are used again.
  private(set) var isClosed = false

  private struct CellKey: Hashable {
    var row: SettingRow
    var codec: ObjectIdentifier?
  }

  private struct WeakCell {
    weak var cell: ValueCell?
  }

  private var cells: [CellKey: WeakCell] = [:]
  /// Cells with changes on their way, by the changes' numbers; they must not go away meanwhile.
  private var changing: [UInt64: ValueCell] = [:]
  private var follower: Task<Void, Never>?
  private var vaults: [SecureKeySource.Kind: KeyVault] = [:]
  /// For a database in memory, whose key need not live longer than it.
  private var ownVault: KeyVault?
  private var waiting: [CheckedContinuation<Void, any Error>] = []

  nonisolated init(_ database: SettingsDatabase) {
    self.database = database
    location = database.location
    inbox = SettingsInbox()
    line = SettingsLine(database: database, inbox: inbox)
    inbox.connect(self)
  }

  isolated deinit {
    follower?.cancel()
    for continuation in waiting { continuation.resume(throwing: CancellationError()) }
  }

  // MARK: Cells

  /// Returns the cell of a row; what is stored is read right here when nothing has been read yet.
  func cell(for row: SettingRow, _ codec: any RowCodec) -> ValueCell {
    start()
    let key = CellKey(row: row, codec: codec.identity)
    if let cell = cells[key]?.cell { return cell }
    cells = cells.filter { $0.value.cell != nil }
    let cell = ValueCell(row: row, codec: codec, engine: self)
    cells[key] = WeakCell(cell: cell)
    cell.settle()
    return cell
  }

  /// What is stored in a row, as far as is known.
  func stored(in row: SettingRow) -> SQLValue? { known.rows[row] }

  /// Whether the rows have been read at all.
  var isLoaded: Bool { known.isLoaded }

  private func cells(of row: SettingRow) -> [ValueCell] {
    cells.compactMap { $0.key.row == row ? $0.value.cell : nil }
  }

  private var allCells: [ValueCell] { cells.values.compactMap(\.cell) }

  /// Whether a row of any secret is known.
  var holdsSecrets: Bool {
    known.rows.keys.contains { if case .secret = $0 { true } else { false } }
  }

  /// Shows a change and puts it into the line.
  func submit(_ kind: ValueChange.Kind, of cell: ValueCell) -> ValueCommit {
    let change = ValueChange(
      number: line.nextNumber(), row: cell.row, codec: cell.codec, kind: kind)
    changing[change.number] = cell
    cell.add(change)
    line.add(change)
    return ValueCommit(number: change.number, outcome: change.outcome, engine: self)
  }

  /// Returns the commit of a change that failed before it could be shown.
  func refuse(_ error: any Error, of cell: ValueCell) -> ValueCommit {
    let number = line.nextNumber()
    line.noteFailure(error, of: number)
    cell.fail(error)
    report(error, of: cell.row)
    let outcome = ChangeOutcome()
    outcome.complete(.failure(error))
    return ValueCommit(number: number, outcome: outcome, engine: self)
  }

  /// Returns the keys of a storage of this database.
  func vault(for storage: SettingsStorage) -> KeyVault {
    guard let source = storage.keySource else {
      let vault = ownVault ?? KeyVault(.ephemeral())
      ownVault = vault
      return vault
    }
    if let vault = vaults[source.kind] { return vault }
    let vault = KeyVault(source)
    vaults[source.kind] = vault
    return vault
  }

  // MARK: Reading

  private func start() {
    guard follower == nil, !isClosed else { return }
    readAtOnce()
    let following = SettingsFollower(database: database, inbox: inbox)
    follower = Task.detached { await following.run() }
  }

  /// Reads the file on this thread, so that the first look at a value sees what is stored.
  private func readAtOnce() {
    guard !isLoaded else { return }
    do {
      if let path = try database.readablePath {
        let rows = try BoutiqueDB.readOnce(path: path) { connection in
          try SettingsTables.readAll(on: connection)
        }
        known.begin(with: rows ?? [:])
      } else if database.isNewborn {
        known.begin(with: [:])
      }
    } catch {
      setTrouble(error)
    }
  }

  /// Waits until the rows have been read.
  ///
  /// - Throws: why they could not be; the reading is tried again all the same.
  func loaded() async throws {
    start()
    if isLoaded { return }
    try await withCheckedThrowingContinuation { waiting.append($0) }
  }

  private func setTrouble(_ error: (any Error)?) {
    let isNews = trouble.map { "\($0)" } != error.map { "\($0)" }
    trouble = error
    // That the program has closed its database is no news to it.
    if let error, isNews, !isClosed, !isEnd(error) { report(error, of: nil) }
    if isNews { for cell in allCells { cell.refresh() } }
  }

  private func isEnd(_ error: any Error) -> Bool {
    if case BoutiqueError.closed = error { true } else { false }
  }

  private func endWaiting(_ result: Result<Void, any Error>) {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume(with: result) }
  }

  // MARK: The inbox

  /// Makes memory agree with everything that has happened so far.
  func settle() { readInbox() }

  func readInbox() {
    for message in inbox.take() {
      switch message {
      case .rows(let found, let asked, let token, let beginsAnew):
        take(found, asked: asked, token, beginsAnew: beginsAnew)
      case .committed(let results, let token): take(results, token)
      case .failed(let changes, let error):
        end(changes.map { ($0, .failure(error)) })
      case .trouble(let error):
        if !isClosed { setTrouble(error) }
        if !isLoaded { endWaiting(.failure(error)) }
      }
    }
  }

  private func take(
    _ found: [SettingRow: SQLValue], asked: Set<SettingRow>?, _ token: ChangeToken,
    beginsAnew: Bool
  ) {
    let wasLoaded = isLoaded
    let touched = known.take(snapshot: found, asked: asked, token, beginsAnew: beginsAnew)
    setTrouble(nil)
    for cell in wasLoaded ? touched.flatMap(cells(of:)) : allCells { cell.settle() }
    endWaiting(.success(()))
  }

  private func take(
    _ results: [(change: ValueChange, stored: Result<SQLValue?, any Error>)], _ token: ChangeToken
  ) {
    known.take(
      commit: results.compactMap { change, stored in
        if case .success(let stored) = stored { (change.row, stored) } else { nil }
      }, token)
    end(results)
  }

  private func end(_ results: [(change: ValueChange, stored: Result<SQLValue?, any Error>)]) {
    var ended:
      [ObjectIdentifier: (cell: ValueCell, results: [(ValueChange, Result<SQLValue?, any Error>)])] =
        [:]
    for (change, stored) in results {
      guard let cell = changing.removeValue(forKey: change.number) else { continue }
      ended[ObjectIdentifier(cell), default: (cell, [])].results.append((change, stored))
      if case .failure(let error) = stored { report(error, of: change.row) }
    }
    for (cell, results) in ended.values {
      cell.end(results)
      for other in cells(of: cell.row) where other !== cell { other.settle() }
    }
  }

  private func report(_ error: any Error, of row: SettingRow?) {
    SettingsStorage.report(
      StoredValueProblem(path: location, key: row?.key, error: error))
  }

  // MARK: The end

  /// Writes what is on its way, and closes the database unless it is the program's own.
  func close() async throws {
    let result: Result<Void, any Error>
    do {
      try await line.allEnded()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    isClosed = true
    follower?.cancel()
    await database.close()
    readInbox()
    try result.get()
  }
}
