import SQLiteConnection
import StructuredQueries
import Synchronization

/// `count(*)` or the sum of a column, with which rows count and for how much.
///
/// Only whole numbers are summed up here: what SQLite makes of real ones depends on the order in which it
/// meets them. Nor may the absolute values go beyond 2⁶³, since then it depends on the order whether SQLite
/// reports an overflow.
///
/// `@unchecked Sendable`: it is used by whoever has taken it out of its `KeptBox`, and by nobody else.
final class KeptAggregate: KeptContent, @unchecked Sendable {
  private(set) var position: LogPosition
  let region: TableRegion
  private let schemaVersion: Int64?
  private let query: Query
  /// By row id, how much it adds; nil for NULL.
  private var members: [Int64: Int64?] = [:]
  private var total: Int64 = 0
  private var magnitude: UInt64 = 0
  /// How many members are not NULL.
  private var values = 0
  private(set) var version: KeptVersion?

  /// What is run for it.
  struct Query: Sendable {
    let aggregate: SingleAggregate
    let table: String
    let all: SQLFragment
    let byKey: SQLFragment

    init(_ select: SingleTableSelect, _ aggregate: SingleAggregate, table: String, rowID: String) {
      self.aggregate = aggregate
      self.table = table
      var head: SQLFragment = "SELECT \(quote: select.scope).\(quote: rowID)"
      if case .sum(let column) = aggregate {
        head.append(", \(quote: select.scope).\(quote: column)")
      }
      head.append(" FROM \(select.from)")
      all = select.predicate.map { "\(head) WHERE \($0)" } ?? head
      let condition: SQLFragment = select.predicate.map { "(\($0)) AND " } ?? SQLFragment()
      byKey = "\(head) WHERE \(condition)\(quote: select.scope).\(quote: rowID) IN ("
    }
  }

  /// Beyond so many rows it is not kept.
  private static let limit = 1_000_000

  /// - Returns: nil when it cannot be kept.
  init?(
    _ query: Query, position: LogPosition, observed: ObservedRead,
    on connection: BoutiqueConnection
  ) throws {
    self.query = query
    self.position = position
    schemaVersion = observed.schema.version
    var isKnown = true
    var rows: [(Int64, Int64?)] = []
    try connection.withRows(of: query.all) { steps in
      while isKnown, let row = try query.next(&steps) {
        if let value = row.value, rows.count < Self.limit {
          rows.append((row.rowID, value))
        } else {
          isKnown = false
        }
      }
    }
    region = try observed.recorder.region()
    guard isKnown else { return nil }
    members.reserveCapacity(rows.count)
    for (rowID, value) in rows { guard add(rowID, value) else { return nil } }
    version = KeptVersion(serial: KeptVersion.nextSerial())
  }

  /// The aggregate's value.
  var value: SQLValue {
    switch query.aggregate {
    case .count: .integer(Int64(members.count))
    case .sum: values == 0 ? .null : .integer(total)
    }
  }

  /// Brings it to the snapshot of a read.
  ///
  /// - Returns: false when the query has to run; then this is good for nothing any more.
  func advance(_ observed: ObservedRead, on connection: BoutiqueConnection) throws -> Bool {
    guard schemaVersion == observed.schema.version, let reads = region.tables[query.table],
      let (changed, position) = try observed.changedRows(
        of: query.table, after: position, reads: reads, atMost: max(64, members.count / 8),
        on: connection.sqlite)
    else { return false }
    let before = value
    for rowID in changed { remove(rowID) }
    var isKnown = true
    try connection.readRows(query.byKey, changed) { steps in
      while isKnown, let row = try query.next(&steps) {
        remove(row.rowID)
        isKnown = row.value.map { add(row.rowID, $0) } ?? false
      }
    }
    guard isKnown, members.count <= Self.limit else { return false }
    if value != before { version?.number += 1 }
    self.position = position
    return true
  }

  private func add(_ rowID: Int64, _ value: Int64?) -> Bool {
    members[rowID] = .some(value)
    guard let value else { return true }
    let (sum, overflow) = magnitude.addingReportingOverflow(UInt64(value.magnitude))
    guard !overflow, sum <= UInt64(Int64.max) else { return false }
    magnitude = sum
    total += value
    values += 1
    return true
  }

  private func remove(_ rowID: Int64) {
    guard let value = members.removeValue(forKey: rowID), let value else { return }
    magnitude -= UInt64(value.magnitude)
    total -= value
    values -= 1
  }
}

extension KeptAggregate.Query {
  /// Returns the next row; its value is nil when it is none that can be summed up here.
  fileprivate func next(_ steps: inout StatementSteps) throws -> (rowID: Int64, value: Int64??)? {
    guard try steps.step() else { return nil }
    let statement = steps.statement
    let rowID = statement.int64(0)
    guard case .sum = aggregate else { return (rowID, .some(.some(0))) }
    switch statement.columnType(1) {
    case .null: return (rowID, .some(nil))
    case .integer: return (rowID, .some(.some(statement.int64(1))))
    default: return (rowID, nil)
    }
  }
}

/// One run of a live query of an aggregate.
struct AggregateRun<S: Statement> {
  let statement: S
  let select: SingleTableSelect
  let aggregate: SingleAggregate
  let key: RunKey
  let box: KeptBox
  let observed: ObservedRead

  func read(_ connection: BoutiqueConnection) throws -> Reading<S.QueryValue.Output?> {
    let schema = observed.schema.version
    if box.isRefused(at: schema) { return Reading(try statement.fetchOne(connection)) }
    if let kept = box.take() as? KeptAggregate {
      guard observed.counter != nil, !observed.isBefore(kept.position) else {
        box.put(kept)
        return Reading(try statement.fetchOne(connection))
      }
      if (try? kept.advance(observed, on: connection)) == true {
        observed.recorder.known = kept.region
        observed.kept.steps.add(1, ordering: .relaxed)
        return try keep(kept)
      }
    }
    observed.kept.runs.add(1, ordering: .relaxed)
    let start = MonotonicTime.now()
    let value = try statement.fetchOne(connection)
    let minimum = observed.kept.minimumCount.load(ordering: .relaxed)
    guard minimum == 0 || start.duration(to: .now()) > KeepingRun<S>.fast else {
      return Reading(value)
    }
    // To know which rows count costs more than to count them, so it waits until there is a change.
    guard box.hasRunBefore(), let position = try observed.position(on: connection.sqlite) else {
      return Reading(value)
    }
    let values = try statement.query.bindings.map { SQLiteValue($0) }
    guard
      let (table, rowID) = try? KeepPlan.table(
        ofAggregate: statement.query.sql, values: values, schema: observed.schema,
        on: connection.sqlite),
      let kept = try KeptAggregate(
        KeptAggregate.Query(select, aggregate, table: table, rowID: rowID), position: position,
        observed: observed, on: connection)
    else {
      box.refuse(at: schema)
      return Reading(value)
    }
    return try keep(kept)
  }

  private func keep(_ kept: KeptAggregate) throws -> Reading<S.QueryValue.Output?> {
    let source = SingleValue(kept.value)
    var decoder = RowDecoder(source)
    do {
      var reading = Reading<S.QueryValue.Output?>(try decoder.decode(S.QueryValue.self))
      reading.version = kept.version
      reading.change = KeptChange(differs: true)
      box.put(kept)
      return reading
    } catch {
      throw BoutiqueError.decodingFailed(error)
    }
  }
}

/// A row of one value.
private final class SingleValue: ColumnSource {
  private let value: SQLValue
  init(_ value: SQLValue) { self.value = value }

  var columnCount: Int { 1 }
  func sqlValue(at index: Int) -> SQLValue { value }
  func isNull(at index: Int) -> Bool { value.isNull }
  func place(of index: Int) -> (table: String?, column: String) { (nil, "") }
}
