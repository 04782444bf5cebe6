package import BoutiqueDB

/// What is known of the rows of a settings database, from snapshots and from this process's own commits.
///
/// It never goes back: each row remembers the token as of which it is known. A snapshot holds every commit
/// up to its token, so it wins over a commit with the same or an older one. A commit of a foreign program
/// has no token of its own; the snapshot that shows it has one at least as new as all before.
package struct KnownRows {
  /// What is stored.
  package private(set) var rows: [SettingRow: SQLValue] = [:]
  /// Whether the rows have been read at all.
  package private(set) var isLoaded = false
  /// As of which commit the rows are known; those in `tokens` as of a newer one.
  private var floor: Int64 = -1
  private var tokens: [SettingRow: Int64] = [:]
  private var generation: String?

  /// Knows nothing.
  package init() {}

  /// Takes what was read before there was a token to be had.
  package mutating func begin(with rows: [SettingRow: SQLValue]) {
    self.rows = rows
    isLoaded = true
  }

  /// Takes what a snapshot holds.
  ///
  /// - Parameters:
  ///   - asked: the rows that were looked for; nil for all.
  ///   - beginsAnew: whether the file was opened again, so that numbers may begin again.
  /// - Returns: the rows whose value is another one now.
  package mutating func take(
    snapshot found: [SettingRow: SQLValue], asked: Set<SettingRow>?, _ token: ChangeToken,
    beginsAnew: Bool
  ) -> Set<SettingRow> {
    if beginsAnew || generation != token.generation {
      // Another file, or another history of the same one: numbers cannot be compared.
      generation = token.generation
      floor = -1
      tokens = [:]
    }
    isLoaded = true
    var touched: Set<SettingRow> = []
    for row in asked ?? Set(rows.keys).union(found.keys)
    where (tokens[row] ?? floor) <= token.number {
      if rows[row] != found[row] { touched.insert(row) }
      rows[row] = found[row]
      if asked != nil { tokens[row] = token.number }
    }
    if asked == nil, token.number >= floor {
      floor = token.number
      tokens = tokens.filter { $0.value > token.number }
    }
    return touched
  }

  /// Takes what a commit of this process left in the rows that it changed, in the order of its changes.
  package mutating func take(
    commit stored: [(row: SettingRow, stored: SQLValue?)], _ token: ChangeToken
  ) {
    if generation == nil { generation = token.generation }
    // A file that was opened again, of which there is no snapshot yet.
    guard generation == token.generation else { return }
    var last: [SettingRow: SQLValue?] = [:]
    for (row, stored) in stored { last[row] = .some(stored) }
    for (row, stored) in last where token.number > (tokens[row] ?? floor) {
      rows[row] = stored
      tokens[row] = token.number
    }
  }
}
