import Synchronization

private let lastNumber = Atomic<Int>(0)

/// The text of all statements of one shape, made once.
package final class SQLTemplate: Sendable {
  /// The text, with `?` for each value.
  package let text: String
  /// Where each `?` is, in bytes of UTF-8.
  let places: [Int]
  /// Tells it from all other templates of this process, past ones included.
  package let number: Int

  package init(_ text: String, places: [Int] = []) {
    self.text = text
    self.places = places
    number = lastNumber.add(1, ordering: .relaxed).newValue
  }
}

/// The templates of the statements about single rows of a table.
struct TableTemplates: Sendable {
  /// A whole row inserted.
  let insert: SQLTemplate
  /// The row of a key; nil for a table without a key.
  let find: SQLTemplate?
  /// The row of a key deleted.
  let delete: SQLTemplate?

  init(_ schema: TableSchema) {
    let row = schema.writableNames.map { _ in SQLBinding.value(.null) }
    insert = Self.insertion(into: schema, row).asTemplate
    guard !schema.keyColumns.isEmpty else {
      find = nil
      delete = nil
      return
    }
    let key = schema.keyColumns.map { _ in SQLBinding.value(.null) }
    let body = SelectBody(schema, key: key)
    find = body.fragment.asTemplate
    delete = body.deletion.asTemplate
  }

  private static func insertion(into schema: TableSchema, _ row: [SQLBinding]) -> SQLFragment {
    var result = InsertText.head(nil, schema.name, schema.writableNames)
    result.append(sql: " VALUES ")
    result.append(row: row)
    return result
  }
}

/// The templates of a table's updates by key, by the columns that they assign.
struct UpdateTemplates: Sendable {
  // More shapes than that are those of a program that makes them up.
  private static let limit = 32
  private var known: [(names: [String], template: SQLTemplate)] = []

  func template(_ assignments: [Assignment]) -> SQLTemplate? {
    for (names, template) in known where names.count == assignments.count {
      var isSame = true
      for index in names.indices where isSame {
        isSame = SQLValue.text(names[index]) == SQLValue.text(assignments[index].name)
      }
      if isSame { return template }
    }
    return nil
  }

  mutating func insert(_ template: SQLTemplate, _ assignments: [Assignment]) {
    guard known.count < Self.limit else { return }
    known.append((assignments.map(\.name), template))
  }
}
