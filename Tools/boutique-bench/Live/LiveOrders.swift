/// What an observing worker does.
struct ObserverOrders: Codable, Sendable {
  /// Whose commits it watches.
  enum Writer: String, Codable, Sendable {
    /// Its own, one at a time.
    case own
    /// Another process's, one at a time; it says `step` at each value.
    case other
    /// Another process's, as fast as they come.
    case storm
  }

  var path: String
  var writer: Writer
  /// How many live queries it has, of ten rows each.
  var queries: Int
  /// How many commits are measured one at a time.
  var samples: Int
  /// The pause between them, in nanoseconds.
  var pause: Int64
}

/// What a process that writes for observers does.
struct LiveWriterOrders: Codable, Sendable {
  var path: String
  /// How many rows there are.
  var rows: Int
  /// How long it commits without pause, in nanoseconds; nil: one commit at each `go`.
  var storm: Int64?
}

/// The row that is changed, and the queries that see it.
///
/// The new content of a row is the moment at which it was written, so whoever sees the content knows how
/// old it is. It is taken in the closure just before the UPDATE: what is measured is that statement,
/// capture, commit, and the way to the observer.
enum LiveTable {
  static let rowsPerQuery = 10
  static let select = "SELECT sequence FROM item WHERE id BETWEEN ? AND ? ORDER BY id"
  static let update = "UPDATE item SET sequence = ? WHERE id = ?"

  /// Returns the rows that a query reads.
  static func rows(of query: Int) -> ClosedRange<Int> {
    (query * rowsPerQuery + 1)...((query + 1) * rowsPerQuery)
  }
}
