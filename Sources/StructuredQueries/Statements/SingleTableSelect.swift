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
    guard term.values.isEmpty else { return nil }
    var text = SQLScanner(term.sql)
    if text.take("(") {
      guard let name = text.takeColumn(of: scope), text.take(" COLLATE "),
        let collation = text.takeIdentifier(), text.take(")")
      else { return nil }
      column = name
      self.collation = collation
    } else {
      guard let name = text.takeColumn(of: scope) else { return nil }
      column = name
    }
    if text.take(" DESC") { isDescending = true } else { _ = text.take(" ASC") }
    nullsFirst = !isDescending
    if text.take(" NULLS FIRST") { nullsFirst = true }
    if text.take(" NULLS LAST") { nullsFirst = false }
    guard text.isAtEnd else { return nil }
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
    guard select.selection.values.isEmpty else { return nil }
    var text = SQLScanner(select.selection.sql)
    if text.take("count(*)") {
      self = .count
    } else if text.take("sum("), let column = text.takeColumn(of: select.scope), text.take(")") {
      self = .sum(column)
    } else {
      return nil
    }
    guard text.isAtEnd else { return nil }
  }
}
