/// The tables and columns that a statement reads.
///
/// A table of the main database stands under its plain name, any other under its qualified one
/// (`temp.draft`, `other.person`). Views, and the tables behind them, are both listed; so are
/// virtual tables and table-valued functions. A table of which no column is read, as in
/// `count(*)`, has an empty set. Names are as the schema spells them; a row id that is no column
/// of its own is called `ROWID`.
///
/// The set may be larger than needed, never smaller.
package struct ReadSet: Sendable, Equatable {
  /// Column names by table name.
  package var tables: [String: Set<String>]

  /// Makes a set of the given tables.
  package init(tables: [String: Set<String>] = [:]) {
    self.tables = tables
  }

  /// Whether nothing is read.
  package var isEmpty: Bool { tables.isEmpty }

  /// Adds what another statement reads.
  package mutating func formUnion(_ other: ReadSet) {
    tables.merge(other.tables) { $0.union($1) }
  }
}
