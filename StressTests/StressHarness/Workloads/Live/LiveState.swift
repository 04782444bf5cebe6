import Blackbird
import BoutiqueDB
import StressHistory

/// A cell as the query language sees it.
@Table("LiveCellModel") struct LiveCell: Sendable, Equatable {
  @Column(primaryKey: true) var id: Int
  var value: Int
  var stamp: Int
}

/// The same table as a model, which makes it.
struct LiveCellModel: BlackbirdModel {
  @BlackbirdColumn var id: Int
  @BlackbirdColumn var value: Int
  @BlackbirdColumn var stamp: Int
}

/// What a snapshot holds.
struct LiveState: Sendable, Equatable {
  static let cells = 8
  /// What writes set and observers read, in the history: each state is known by it.
  static let key = "counter"

  /// What a process saw, for its history.
  static func seen(_ cells: [LiveCell], counter: Int64?) -> [Step] {
    let stamp = counter ?? Int64(cells.map(\.stamp).max() ?? -1)
    return [Step(.read, key, .integer(stamp))]
      + cells.map { Step(.read, "cell \($0.id)", .integer(Int64($0.value))) }
  }

  var counter: Int64
  /// When the commit's closure ran that counted so far, in nanoseconds of the monotonic clock.
  var at: Int64
  var cells: [LiveCell]

  init(_ connection: BoutiqueConnection) throws {
    let row = try connection.queryOne("SELECT value, at FROM counter WHERE id = 1")
    counter = try row?.decode("value", as: Int64.self) ?? -1
    at = try row?.decode("at", as: Int64.self) ?? 0
    // A statement of its own: both are of one snapshot, or the sum is another.
    cells = try LiveCell.all.order { $0.id.asc() }.fetchAll(connection)
  }

  /// Why no state of the database can be so; nil where one can.
  var fault: String? { Self.fault(of: cells, counter: counter) }

  /// Why no state of the database can have such cells.
  ///
  /// - Parameter counter: the counter read with them; nil where it was not read.
  static func fault(of cells: [LiveCell], counter: Int64? = nil) -> String? {
    let sum = Int64(cells.reduce(0) { $0 + $1.value })
    let stamp = Int64(cells.map(\.stamp).max() ?? -1)
    let text = "the cells add up to \(sum), the last of them is of commit \(stamp)"
    if sum != stamp { return text }
    guard let counter, counter != sum else { return nil }
    return text + ", and the counter is \(counter)"
  }

  /// Counts on, in a write; returns the new count.
  static func advance(cell: Int, _ connection: BoutiqueConnection, at now: Int64) throws -> Int64 {
    let row = try connection.queryOne("SELECT value FROM counter WHERE id = 1")
    let counter = try (row?.decode("value", as: Int64.self) ?? -1) + 1
    try connection.execute("UPDATE counter SET value = ?, at = ? WHERE id = 1", counter, now)
    try connection.execute(
      "UPDATE LiveCellModel SET value = value + 1, stamp = ? WHERE id = ?", counter, cell)
    return counter
  }
}
