/// The clauses of a SELECT of rows of one table: filter, order, limit, and nothing else.
///
/// For whoever keeps its result up to date without running it again.
package struct SingleTableSelect: Sendable {
  /// What is selected.
  package var selection: SQLFragment
  /// The table, with its alias.
  package var from: SQLFragment
  /// The name by which columns are qualified.
  package var scope: String
  /// The condition; nil for all rows.
  package var predicate: SQLFragment?
  /// The terms of the order.
  package var orders: [SQLFragment]
  /// How many rows at most.
  package var limit: SQLFragment?
  /// How many rows are passed over.
  package var offset: SQLFragment?
}

/// A statement that may be a SELECT of rows of one table.
package protocol SingleTableStatement {
  /// Its clauses; nil when there are others, or other tables.
  var singleTable: SingleTableSelect? { get }
}

extension Where: SingleTableStatement {
  /// Its clauses; nil for no rows.
  package var singleTable: SingleTableSelect? { body.singleTable }
}

extension Select: SingleTableStatement {
  /// Its clauses; nil when there are others, or other tables.
  package var singleTable: SingleTableSelect? { body.singleTable }
}

extension SelectBody {
  var singleTable: SingleTableSelect? {
    guard !isNone, !isDistinct, joins.isEmpty, groups.isEmpty, having.isEmpty, scopes.count == 1
    else { return nil }
    return SingleTableSelect(
      selection: selection ?? sideColumns.joined(", "), from: from, scope: scopes[0],
      predicate: predicates.isEmpty ? nil : predicates.conjunction, orders: orders, limit: limit,
      offset: offset)
  }
}

/// A term of an order that is a column of the table, perhaps with a collation and a direction.
package struct ColumnOrder: Hashable, Sendable {
  /// The column's name.
  package var column: String
  /// The collation that the term names; nil for the column's own.
  package var collation: String?
  /// Whether it goes from the largest.
  package var isDescending = false
  /// Whether NULL comes first.
  package var nullsFirst = true

  /// Describes a term.
  ///
  /// - Returns: nil for a term of any other form.
  package init?(_ term: SQLFragment, scope: String) {
    var text = ""
    var names: [String] = []
    for segment in term.segments {
      switch segment {
      case .text(let part): text += part
      case .column(let table, let name):
        guard table == scope, names.isEmpty else { return nil }
        names.append(name)
        text += "?c"
      case .identifier(let name):
        names.append(name)
        text += "?i"
      default: return nil
      }
    }
    func take(_ prefix: String) -> Bool {
      guard text.hasPrefix(prefix) else { return false }
      text.removeFirst(prefix.count)
      return true
    }
    if take("?c") {
      guard names.count == 1 else { return nil }
    } else {
      guard take("(?c COLLATE ?i)"), names.count == 2 else { return nil }
      collation = names[1]
    }
    column = names[0]
    if take(" DESC") { isDescending = true } else { _ = take(" ASC") }
    nullsFirst = !isDescending
    if take(" NULLS FIRST") { nullsFirst = true }
    if take(" NULLS LAST") { nullsFirst = false }
    guard text.isEmpty else { return nil }
  }
}

/// An aggregate over all rows that meet the condition: `count(*)`, or the sum of a column.
package enum SingleAggregate: Hashable, Sendable {
  /// `count(*)`
  case count
  /// `sum` of the column of this name.
  case sum(String)

  /// Recognises what a SELECT selects.
  ///
  /// - Returns: nil for anything but a single one of these.
  package init?(_ select: SingleTableSelect) {
    var text = ""
    var column: String?
    for segment in select.selection.segments {
      switch segment {
      case .text(let part): text += part
      case .column(let table, let name):
        guard table == select.scope, column == nil else { return nil }
        column = name
        text += "?c"
      default: return nil
      }
    }
    switch (text, column) {
    case ("count(*)", nil): self = .count
    case ("sum(?c)", let column?): self = .sum(column)
    default: return nil
    }
  }
}
