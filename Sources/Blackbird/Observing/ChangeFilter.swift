/// Which changes of a table somebody wants to hear of.
struct ChangeFilter: Sendable {
  /// Only these rows; nil for all.
  var keys: Blackbird.PrimaryKeyValues?
  /// Only changes of these columns, in lower case; nil for all.
  var columns: Blackbird.ColumnNames?
  /// Not changes of these columns alone, in lower case.
  var ignored: Blackbird.ColumnNames = []

  /// Whether a change of columns is wanted; nil is any column.
  func wants(_ changed: Blackbird.ColumnNames?) -> Bool {
    guard let changed else { return true }
    if let columns { return changed.contains { columns.contains($0.lowercased()) } }
    return ignored.isEmpty || changed.contains { !ignored.contains($0.lowercased()) }
  }
}

extension BlackbirdModel {
  /// Returns the filter that a caller has described; what cannot be understood filters nothing.
  static func changeFilter(
    keys: [[any Sendable]]? = nil, columns: [BlackbirdColumnKeyPath]? = nil,
    ignored: [BlackbirdColumnKeyPath] = []
  ) -> ChangeFilter {
    func names(_ paths: [BlackbirdColumnKeyPath]) -> Blackbird.ColumnNames? {
      guard let table = try? Self.table else { return nil }
      return try? Set(paths.map { try table.name(of: $0).lowercased() })
    }
    var filter = ChangeFilter()
    if let keys {
      let values = keys.compactMap { RowKeyValues.of($0) }
      if values.count == keys.count { filter.keys = Set(values) }
    }
    if let columns, !columns.isEmpty { filter.columns = names(columns) }
    filter.ignored = names(ignored) ?? []
    return filter
  }
}
