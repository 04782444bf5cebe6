import SQLiteConnection
import StructuredQueries

/// What is run for a kept list: the statement with the row id and what rows are ordered by beside its
/// columns.
struct KeptListQuery: Sendable {
  /// Which part of the rows is shown.
  struct Window: Hashable, Sendable {
    var offset: Int
    var limit: Int?

    /// How many rows have to be known.
    var needed: Int { offset + (limit ?? 0) }
    /// How many are read, so that the next few that go do not make it run again; nil for all.
    var kept: Int? { limit == nil ? nil : needed + max(16, needed / 2) }

    func shown(of count: Int) -> Range<Int> {
      let start = min(offset, count)
      return start..<(limit.map { min(offset + $0, count) } ?? count)
    }
  }

  let plan: KeepPlan
  /// Nil when all rows are shown.
  let window: Window?
  /// The statement for all rows.
  let all: SQLFragment
  private let byKey: SQLFragment
  /// How many columns stand before the row id.
  let width: Int

  /// - Parameter width: how many columns the statement has.
  /// - Returns: nil when its limit is none that can be kept.
  init?(_ select: SingleTableSelect, _ plan: KeepPlan, width: Int) {
    self.plan = plan
    self.width = width
    var window = Window(offset: 0, limit: nil)
    if let limit = select.limit {
      guard let value = limit.integer, value <= 1_000_000 else { return nil }
      if value >= 0 { window.limit = value }
    }
    if let offset = select.offset {
      guard let value = offset.integer, value <= 1_000_000 else { return nil }
      window.offset = max(0, value)
    }
    self.window = window.offset == 0 && window.limit == nil ? nil : window

    func column(_ name: String) -> SQLFragment { "\(quote: select.scope).\(quote: name)" }
    var head: SQLFragment = "SELECT \(select.selection), \(column(plan.rowID))"
    for term in plan.terms { head.append(", \(column(term.column))") }
    head.append(" FROM \(select.from)")
    var all = head
    if let predicate = select.predicate { all.append(" WHERE \(predicate)") }
    all.append(" ORDER BY ")
    for order in select.orders { all.append("\(order), ") }
    for term in plan.terms[select.orders.count...] {
      let direction = term.isDescending ? "DESC" : "ASC"
      all.append(
        "\(column(term.column)) COLLATE \(quote: term.collation.rawValue) \(raw: direction), ")
    }
    all.append("\(column(plan.rowID)) \(raw: plan.isReverse ? "DESC" : "ASC")")
    if let kept = self.window?.kept { all.append(" LIMIT \(kept)") }
    self.all = all
    head.append(" WHERE ")
    if let predicate = select.predicate { head.append("(\(predicate)) AND ") }
    head.append("\(column(plan.rowID)) IN (")
    byKey = head
  }

  /// Returns those of some rows that meet the statement's condition now.
  ///
  /// - Returns: nil when the place of one of them cannot be told.
  func rows<Row: QueryRow>(
    _ rowIDs: Set<Int64>, of type: Row.Type, on connection: BoutiqueConnection
  ) throws -> [Int64: (element: Row.Output, key: [UInt8])]? {
    var rows: [Int64: (element: Row.Output, key: [UInt8])] = [:]
    let reader = RowReader<Row>(self)
    try connection.readRows(byKey, rowIDs) { steps in
      while let row = try reader.next(&steps) { rows[row.rowID] = (row.element, row.key) }
    }
    guard reader.isKnown else { return nil }
    return rows
  }
}

/// Reads rows of a kept list with their keys.
final class RowReader<Row: QueryRow> {
  private let query: KeptListQuery
  /// Whether the places of all rows so far are known.
  private(set) var isKnown = true

  init(_ query: KeptListQuery) { self.query = query }

  func next(
    _ steps: inout StatementSteps
  ) throws -> (element: Row.Output, rowID: Int64, key: [UInt8])? {
    let statement = steps.statement
    // A selection of raw SQL can have more columns than its type says.
    guard statement.columnCount == query.width + 1 + query.plan.terms.count else {
      isKnown = false
      return nil
    }
    guard let element = try steps.next(Row.self) else { return nil }
    var key = SortKey()
    for (index, term) in query.plan.terms.enumerated() {
      if !key.append(statement, query.width + 1 + index, as: term) { isKnown = false }
    }
    let rowID = statement.int64(query.width)
    key.append(rowID: rowID, isDescending: query.plan.isReverse)
    return (element, rowID, key.bytes)
  }
}

extension SQLFragment {
  /// The number that it consists of; nil for anything else.
  fileprivate var integer: Int? {
    guard sql == "?", values.count == 1, case .integer(let value)? = try? values[0].get()
    else { return nil }
    return Int(exactly: value)
  }
}
