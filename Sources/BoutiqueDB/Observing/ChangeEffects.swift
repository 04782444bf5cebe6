import SQLiteConnection
import Synchronization

/// One commit's changes in the order in which regions ask for them: by table, then by row.
struct ChangeEffects: Sendable {
  struct Row: Sendable {
    /// Whether it was inserted or deleted.
    var cameOrWent = false
    var updated = ColumnPositions()
  }

  struct Table: Sendable {
    var isWhole = false
    var hasArrivals = false
    var hasDepartures = false
    /// The columns changed in any row.
    var updated = ColumnPositions()
    var rows: [RowKey: Row] = [:]
  }

  var tables: [String: Table] = [:]
  var changesSchema = false

  init(_ summary: CommitSummary) {
    var all = Array(repeating: Table(), count: summary.tables.count)
    for change in summary.changes {
      guard change.key != .whole else {
        all[change.table].isWhole = true
        continue
      }
      var columns = ColumnPositions()
      for column in change.columns { columns.insert(column) }
      // An update of which nobody knows the columns.
      if change.columns.isEmpty { columns = .all }
      switch change.kind {
      case .insert: all[change.table].hasArrivals = true
      case .delete: all[change.table].hasDepartures = true
      case .update: all[change.table].updated.formUnion(columns)
      }
      let key = change.key.comparable
      if change.kind == .update {
        all[change.table].rows[key, default: Row()].updated.formUnion(columns)
      } else {
        all[change.table].rows[key, default: Row()].cameOrWent = true
      }
    }
    for (index, name) in summary.tables.enumerated() {
      // A table named without any change of it has changed in a way that nobody described.
      if all[index].rows.isEmpty { all[index].isWhole = true }
      if name == "sqlite_schema" { changesSchema = true }
      tables[name] = all[index]
    }
  }
}

extension RowKey {
  /// The key in a form in which equal keys are equal: whole numbers as integers, and infinities as the change
  /// log writes them.
  var comparable: RowKey {
    guard case .columns(let values) = self else { return self }
    return .columns(
      values.map { value in
        guard case .real(let number) = value else { return value }
        if let whole = Int64(exactly: number) { return .integer(whole) }
        return number.isFinite ? value : .text("\(number)")
      })
  }
}

/// The effects of a change, worked out when somebody first asks, and then for everybody.
final class SharedEffects: Sendable {
  private let effects = Mutex<ChangeEffects?>(nil)

  func of(_ summary: CommitSummary) -> ChangeEffects {
    effects.withLock { known in
      if let known { return known }
      let made = ChangeEffects(summary)
      known = made
      return made
    }
  }
}

extension ChangeSet {
  var effects: ChangeEffects { sharedEffects.of(summary) }
}
