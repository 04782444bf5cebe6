import BoutiqueDB

/// One commit as those hear of it who know tables, columns and keys by name.
///
/// What each table's rows come to is worked out when somebody first asks. Used under the centre's lock.
final class TranslatedChange {
  /// The rows of one table.
  private struct Rows {
    var table: String
    var isWhole = false
    /// The changed columns of each row; nil for all of them.
    var byKey: [[Blackbird.Value]: Blackbird.ColumnNames?] = [:]
    /// The changed columns of rows that are not told apart; nil when there are none.
    var others: Blackbird.ColumnNames??
  }

  let origin: Blackbird.ChangeOrigin
  /// Whether anything may have changed.
  let isEverything: Bool
  /// The position of the commit.
  let token: Int64
  private let change: BoutiqueChange?
  private let layouts: TableLayouts?
  private let silent: Set<String>
  private var rows: [String: Rows]?

  /// - Parameters:
  ///   - layouts: how the tables look at that commit; nil where that is not known.
  ///   - silent: tables, in lower case, of which there is nothing to tell: they were made, and are empty.
  init(_ change: BoutiqueChange, layouts: TableLayouts?, silent: Set<String> = []) {
    origin = Blackbird.ChangeOrigin(change.origin)
    isEverything = change.isEverything
    token = change.token.number
    self.change = change
    self.layouts = layouts
    self.silent = silent
  }

  /// Creates a change of everything that somebody only assumes.
  init(everythingFrom origin: Blackbird.ChangeOrigin) {
    self.origin = origin
    isEverything = true
    token = .max
    change = nil
    layouts = nil
    silent = []
  }

  /// Whether tables may have come, gone or become others.
  var changesSchema: Bool { isEverything || change?.changesSchema == true }

  /// The changes of all tables; empty for one of everything.
  var all: [Blackbird.Change] {
    guard let change else { return [] }
    return change.tables.filter { !$0.hasPrefix("sqlite_") && !LibraryTables.contain($0) }
      .compactMap { self.change(of: $0, ChangeFilter()) }
  }

  /// What the log is told of it.
  var logLines: [String] {
    if isEverything { return ["[Blackbird.Database] anything may have changed, by \(origin)"] }
    return all.map { change in
      let keys = change.primaryKeys.map { "\($0.count)" } ?? "any number of"
      let columns = change.columnNames.map { $0.sorted().joined(separator: ", ") } ?? "all columns"
      return
        "[Blackbird.Database] \(change.table): \(keys) rows changed (\(columns)), by \(change.origin)"
    }
  }

  /// Returns what a filter lets through of a table's changes; nil for nothing.
  func change(of table: String, _ filter: ChangeFilter) -> Blackbird.Change? {
    if isEverything { return whole(table) }
    guard let rows = grouped()[table.lowercased()] else { return nil }
    if rows.isWhole { return whole(table) }
    var keys: Blackbird.PrimaryKeyValues? = []
    var columns: Blackbird.ColumnNames? = []
    var isWanted = false
    func add(_ key: [Blackbird.Value]?, _ changed: Blackbird.ColumnNames?) {
      guard filter.wants(changed) else { return }
      isWanted = true
      if let key { keys?.insert(key) } else { keys = nil }
      if let changed { columns?.formUnion(changed) } else { columns = nil }
    }
    if case .some(let others) = rows.others { add(nil, others) }
    if let wanted = filter.keys {
      for key in wanted { if let changed = rows.byKey[key] { add(key, changed) } }
    } else {
      for (key, changed) in rows.byKey { add(key, changed) }
    }
    guard isWanted else { return nil }
    return Blackbird.Change(
      table: rows.table, origin: origin, primaryKeys: keys, columnNames: columns)
  }

  private func whole(_ table: String) -> Blackbird.Change {
    Blackbird.Change(table: table, origin: origin, primaryKeys: nil, columnNames: nil)
  }

  private func grouped() -> [String: Rows] {
    if let rows { return rows }
    var grouped: [String: Rows] = [:]
    if let change {
      for table in change.wholeTables where !silent.contains(table.lowercased()) {
        grouped[table.lowercased()] = Rows(table: table, isWhole: true)
      }
      for row in change.rows {
        let name = row.table.lowercased()
        let layout = layouts?.layout(of: row.table, at: token)
        let columns = Self.columns(of: row, layout)
        if layout?.key == .primaryKey {
          let key = RowKeyValues.normal(row.key)
          let before = grouped[name]?.byKey[key]
          grouped[name, default: Rows(table: row.table)].byKey[key] = .some(
            Self.union(before, columns))
        } else {
          let before = grouped[name]?.others
          grouped[name, default: Rows(table: row.table)].others = .some(
            Self.union(before, columns))
        }
      }
    }
    rows = grouped
    return grouped
  }

  /// - Parameter before: nil when there was nothing before; nil inside is all columns.
  private static func union(
    _ before: Blackbird.ColumnNames??, _ more: Blackbird.ColumnNames?
  ) -> Blackbird.ColumnNames? {
    guard case .some(let before) = before else { return more }
    guard let before, let more else { return nil }
    return before.union(more)
  }

  /// Returns the names of a row's changed columns; nil for all.
  private static func columns(
    of row: RowChange, _ layout: TableLayouts.Layout?
  ) -> Blackbird.ColumnNames? {
    guard row.kind == .update, !row.columns.isEmpty, let known = layout?.columns else { return nil }
    var names: Blackbird.ColumnNames = []
    for position in row.columns {
      guard let name = known[position] else { return nil }
      names.insert(name)
    }
    return names
  }
}

extension BoutiqueChange {
  /// Whether the commit changed the schema.
  var changesSchema: Bool { tables.contains("sqlite_schema") }
}

extension Blackbird.ChangeOrigin {
  init(_ origin: ChangeOrigin) {
    switch origin {
    case .thisProcess: self = .thisProcess
    case .process(let pid, let label): self = .process(pid: pid, label: label)
    case .foreign: self = .foreign
    }
  }
}
