import BoutiqueDB

/// What has to be done to a stored table so that it is the one of a model.
struct SchemaDifference: Sendable {
  var added: [ModelTable.Column] = []
  var dropped: [StoredTable.Column] = []
  var retyped: [ModelTable.Column] = []
  /// Columns that may hold NULL, and must not.
  var tightened: [ModelTable.Column] = []
  /// Columns that must not hold NULL, and may.
  var loosened: [ModelTable.Column] = []
  var changesKey = false
  var missingIndexes: [ModelTable.Index] = []
  var extraIndexes: [StoredTable.Index] = []
  var changesSearch = false

  var isEmpty: Bool { !changesTable && !changesSearch }

  /// Whether anything but the full-text index has to be done.
  var changesTable: Bool {
    needsRebuild || !added.isEmpty || !missingIndexes.isEmpty || !extraIndexes.isEmpty
  }

  /// Whether `ALTER TABLE` and indexes are not enough.
  var needsRebuild: Bool {
    !dropped.isEmpty || !retyped.isEmpty || !tightened.isEmpty || !loosened.isEmpty || changesKey
      || added.contains { $0.newValue == nil }
  }

  init(of stored: StoredTable, to table: ModelTable) {
    let keys = Set(table.primaryKeyNames)
    for column in table.columns {
      guard let found = stored.column(column.name) else {
        added.append(column)
        continue
      }
      if found.type != column.type { retyped.append(column) }
      // A key's columns hold no NULL, whatever was declared.
      guard !keys.contains(column.name) else { continue }
      if column.isOptional, found.isNotNull { loosened.append(column) }
      if !column.isOptional, !found.isNotNull { tightened.append(column) }
    }
    dropped = stored.columns.filter { table.columnIndex[$0.name] == nil && !$0.isGenerated }
    changesKey = stored.primaryKey != table.primaryKeyNames
    changesSearch =
      !stored.isSearchSound || stored.searchedColumns != table.searchedColumns.map(\.name)
    missingIndexes = table.indexes.filter { index in
      !stored.indexes.contains { $0.columns == index.columns && $0.isUnique == index.isUnique }
    }
    extraIndexes = stored.indexes.filter { found in
      table.isOwn(found)
        && !table.indexes.contains { $0.columns == found.columns && $0.isUnique == found.isUnique }
    }
  }
}

extension ModelTable {
  /// Says why an older type cannot work with the table as it is; nil where it can.
  ///
  /// It can when every column of the type is there with its type, the key is the same, and rows can be
  /// inserted without the columns that it does not know.
  func obstacle(in stored: StoredTable) -> String? {
    for column in columns {
      guard let found = stored.column(column.name) else {
        return "it has no column \(column.name) any more"
      }
      if found.type != column.type {
        return
          "its column \(column.name) is \(found.type.rawValue) now, not \(column.type.rawValue)"
      }
      if found.isNotNull, column.isOptional, !primaryKeyNames.contains(column.name) {
        return "its column \(column.name) is not optional any more"
      }
      if found.isGenerated { return "its column \(column.name) is computed now" }
    }
    if stored.primaryKey != primaryKeyNames {
      return "its primary key is (\(stored.primaryKey.joined(separator: ", "))) now"
    }
    let required = stored.columns.first {
      columnIndex[$0.name] == nil && $0.isNotNull && !$0.hasDefault && !$0.isGenerated
    }
    return required.map { "it has a column \($0.name) that must be given" }
  }
}
