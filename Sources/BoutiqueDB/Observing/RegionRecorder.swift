import SQLiteConnection
import StructuredQueries

/// Notes what the statements of one run read, and turns it into a region at the end of the run.
///
/// Confined to the thread of the run, and to its transaction: what it asks the database is asked in the same
/// snapshot in which the statements ran.
final class RegionRecorder {
  private struct Run {
    let statement: PreparedStatement
    /// The values of the parameters, once for each time it ran.
    var values: [[SQLValue]] = []
    /// Whether it ran more often than is worth looking at.
    var isCountless = false
  }

  /// Beyond so many, single rows are not told apart any more.
  private static let limit = 1000

  private let schema: SchemaObjects
  private let sqlite: Connection
  private var runs: [ObjectIdentifier: Run] = [:]
  private var other = ReadSet()
  /// The region, where it is known without what was noted.
  var known: TableRegion?

  /// - Precondition: the transaction has begun and its first statement has run.
  init(schema: SchemaObjects, on sqlite: Connection) throws {
    self.schema = schema
    self.sqlite = sqlite
    try schema.refresh(on: sqlite)
  }

  /// Notes a statement of which no more is known than what it reads.
  func note(_ reads: ReadSet) { other.formUnion(reads) }

  /// Notes a statement that is about to run.
  ///
  /// - Parameter values: of all parameters, in their order.
  func willRun(_ statement: PreparedStatement, values: [SQLValue]) {
    let id = ObjectIdentifier(statement)
    var run = runs[id] ?? Run(statement: statement)
    // Without the old entry the array is not copied for being in two places.
    runs[id] = nil
    if run.values.count < Self.limit, !run.isCountless {
      run.values.append(values)
    } else {
      run.isCountless = true
      run.values = []
    }
    runs[id] = run
  }

  /// Returns the region of everything noted.
  func region() throws -> TableRegion {
    if let known { return known }
    var region = TableRegion()
    try add(other, to: &region)
    for run in runs.values {
      let statement = run.statement
      try add(statement.readSet, of: run, to: &region)
      if region.isEverything { return region }
    }
    return region
  }

  private func add(_ reads: ReadSet, of run: Run? = nil, to region: inout TableRegion) throws {
    let program = try run.flatMap(program)
    for (name, columns) in reads.tables {
      guard schema.isFollowed(name), !CaptureSchema.internalTables.contains(name) else {
        region.becomeEverything()
        return
      }
      let table = try schema.table(name, on: sqlite)
      var positions = table.positions(of: columns)
      if let order = program?.order[name] { positions.formUnion(order) }
      if let run, !run.isCountless, let lookups = program?.lookups[name],
        let rows = try rows(of: name, table, lookups, run.values)
      {
        positions.formUnion(rows.columns)
        region.insert(
          positions, of: name, rows: rows.keys, ranges: rows.ranges, arrivals: rows.arrivals)
      } else {
        region.insert(positions, of: name)
      }
    }
  }

  private func program(of run: Run) throws -> ProgramReads? {
    let statement = run.statement
    guard statement.isReadOnly, statement.effects.isPlain else { return nil }
    return try schema.programReads(of: statement.sql, on: sqlite)
  }

  // MARK: Rows

  private struct Rows {
    var keys: Set<RowKey> = []
    var ranges: [ClosedRange<Int64>] = []
    /// The columns that make the keys by which they were found.
    var columns = ColumnPositions()
    var arrivals: ColumnPositions?

    mutating func awaitArrivals(in key: ColumnPositions) {
      var all = arrivals ?? ColumnPositions()
      all.formUnion(key)
      arrivals = all
    }
  }

  /// Returns the rows that lookups find in this snapshot; nil when they cannot be named.
  private func rows(
    of name: String, _ table: TableColumns, _ lookups: Set<KeyLookup>, _ values: [[SQLValue]]
  ) throws -> Rows? {
    var rows = Rows()
    for lookup in lookups {
      for values in values {
        switch lookup {
        case .rowID(let sources):
          guard let keys = rowIDs(sources, values) else { return nil }
          rows.keys.formUnion(keys)
        case .range(let start, let end):
          guard let range = range(from: start, to: end, values) else { return nil }
          if let range = range.bounds { rows.ranges.append(range) }
        case .unique(let columns, let fields):
          guard let keys = combinations(of: fields, values) else { return nil }
          let columnPositions = table.positions(of: Set(columns))
          for key in keys {
            if let row = try row(of: name, table, where: columns, are: key) {
              rows.keys.insert(row.comparable)
              rows.columns.formUnion(columnPositions)
            } else if table.isWithoutRowID || table.rowIDName != nil {
              rows.awaitArrivals(in: columnPositions)
            } else {
              return nil
            }
          }
        }
        if rows.keys.count + rows.ranges.count > Self.limit { return nil }
      }
    }
    return rows
  }

  private func rowIDs(_ sources: Set<KeySource>, _ values: [SQLValue]) -> Set<RowKey>? {
    var keys: Set<RowKey> = []
    for source in sources {
      switch source.value(values) {
      case .integer(let number): keys.insert(.rowID(number))
      case .real(let number): if let whole = Int64(exactly: number) { keys.insert(.rowID(whole)) }
      case .null: continue
      // A text that looks like a number is one to SQLite.
      case .text, .blob, nil: return nil
      }
    }
    return keys
  }

  /// Returns the range between two keys, without bounds when there is nothing in it; nil when it cannot be told.
  ///
  /// A part of a number more is no harm, so numbers that are not whole are taken for their neighbours.
  private func range(
    from start: Set<KeySource>?, to end: Set<KeySource>?, _ values: [SQLValue]
  ) -> (bounds: ClosedRange<Int64>?, Void)? {
    var lower = Int64.min
    var upper = Int64.max
    if let start {
      guard let keys = wholeNumbers(start, values, .down) else { return nil }
      // Nothing is beyond NULL.
      guard let least = keys.min() else { return (nil, ()) }
      lower = least
    }
    if let end {
      guard let keys = wholeNumbers(end, values, .up) else { return nil }
      guard let most = keys.max() else { return (nil, ()) }
      upper = most
    }
    return (lower <= upper ? lower...upper : nil, ())
  }

  /// Returns the numbers among the values of some sources; nil when there is anything else, but for NULL.
  private func wholeNumbers(
    _ sources: Set<KeySource>, _ values: [SQLValue], _ rounding: FloatingPointRoundingRule
  ) -> [Int64]? {
    var numbers: [Int64] = []
    for source in sources {
      switch source.value(values) {
      case .integer(let number): numbers.append(number)
      case .real(let number):
        guard let whole = Int64(exactly: number.rounded(rounding)) else { return nil }
        numbers.append(whole)
      case .null: continue
      // A text that looks like a number is one to SQLite.
      case .text, .blob, nil: return nil
      }
    }
    return numbers
  }

  /// Returns every key that the parts of a lookup can make; nil for too many, or a part that is NULL.
  private func combinations(
    of fields: [Set<KeySource>], _ values: [SQLValue]
  ) -> [[SQLValue]]? {
    var keys: [[SQLValue]] = [[]]
    for sources in fields {
      var longer: [[SQLValue]] = []
      for source in sources {
        guard let value = source.value(values), !value.isNull else { return nil }
        for key in keys { longer.append(key + [value]) }
      }
      keys = longer
      if keys.count > Self.limit { return nil }
    }
    return keys
  }

  /// Returns the row that has a key in this snapshot, as captured changes name it.
  ///
  /// The comparison is SQLite's own, so the affinity of the columns is applied to the values as it was in the
  /// statement.
  private func row(
    of name: String, _ table: TableColumns, where columns: [String], are key: [SQLValue]
  ) throws -> RowKey? {
    let keyColumns = table.isWithoutRowID ? table.uniqueColumns(ofIndex: nil) : nil
    guard
      let selected = keyColumns.map({ $0.map { quoted(identifier: $0) }.joined(separator: ", ") })
        ?? table.rowIDName
    else { return nil }
    let conditions = columns.map { "\(quoted(identifier: $0)) = ?" }.joined(separator: " AND ")
    let select = try sqlite.prepare(
      "SELECT \(selected) FROM main.\(quoted(identifier: name)) WHERE \(conditions)")
    defer { select.reset() }
    for (index, value) in key.enumerated() { try select.bind(value, at: Int32(index + 1)) }
    guard try select.step() else { return nil }
    guard let keyColumns else { return .rowID(select.int64(0)) }
    return .columns(keyColumns.indices.map { SQLiteValue(select.value($0) as SQLValue) })
  }
}

extension KeySource {
  /// The value, given those of the parameters; nil for a parameter that is not there.
  fileprivate func value(_ values: [SQLValue]) -> SQLValue? {
    switch self {
    case .parameter(let number): values.indices.contains(number - 1) ? values[number - 1] : nil
    case .integer(let number): .integer(number)
    case .text(let text): .text(text)
    }
  }
}
