import BoutiqueDB

/// What is remembered of one table.
struct CacheEntries {
  /// What a remembered value answers.
  struct Name: Hashable, Sendable {
    enum Question: Hashable, Sendable {
      /// The row with this key.
      case row([Blackbird.Value])
      /// The result of a statement that reads this table and no other: its text, as a value so that it is
      /// compared by its bytes, and the arguments.
      case query(SQLValue, [SQLValue])
    }

    /// The type that asks: two models can share a table.
    var model: ObjectIdentifier
    var question: Question
  }

  private struct Entry {
    var value: any Sendable
    var weight: Int
    var lastUse: UInt64
  }

  /// A row as a commit left it, unless the commit's record says otherwise.
  private struct Written {
    var value: any Sendable
    var token: ChangeToken
  }

  private var rows: [[Blackbird.Value]: [ObjectIdentifier: Entry]] = [:]
  private var queries: [Name: Entry] = [:]
  private var written: [[Blackbird.Value]: [ObjectIdentifier: Written]] = [:]
  private var weight = 0
  private var uses: UInt64 = 0
  var limit = 0
  var metrics = Blackbird.CachePerformanceMetrics()

  mutating func value(of name: Name) -> (any Sendable)? {
    uses += 1
    switch name.question {
    case .row(let key):
      rows[key]?[name.model]?.lastUse = uses
      return rows[key]?[name.model]?.value
    case .query:
      queries[name]?.lastUse = uses
      return queries[name]?.value
    }
  }

  mutating func insert(_ value: any Sendable, for name: Name, weight: Int) {
    guard weight <= limit else { return }
    uses += 1
    let entry = Entry(value: value, weight: weight, lastUse: uses)
    let old: Entry?
    switch name.question {
    case .row(let key): old = rows[key, default: [:]].updateValue(entry, forKey: name.model)
    case .query: old = queries.updateValue(entry, forKey: name)
    }
    self.weight += weight - (old?.weight ?? 0)
    metrics.writes += 1
    if self.weight > limit { evict() }
  }

  /// Remembers a row that was written, until the commit's own record confirms it.
  mutating func noteWritten(
    _ value: any Sendable, _ key: [Blackbird.Value], _ model: ObjectIdentifier, _ token: ChangeToken
  ) {
    guard written.count < limit else { return }
    written[key, default: [:]][model] = Written(value: value, token: token)
  }

  // MARK: Dropping

  /// Drops what a commit's rows concern; a row that it alone left as it was written is kept.
  mutating func apply(_ rows: some Sequence<RowChange>, keysAreKnown: Bool, at token: ChangeToken) {
    var counts: [[Blackbird.Value]: Int] = [:]
    for row in rows {
      counts[RowKeyValues.normal(row.key), default: 0] += 1
    }
    guard !counts.isEmpty else { return }
    guard keysAreKnown else { return dropAll() }
    dropQueries()
    for (key, count) in counts {
      if let old = self.rows.removeValue(forKey: key) {
        metrics.rowInvalidations += 1
        for entry in old.values { weight -= entry.weight }
      }
      // Somebody else of the same commit may have written it after.
      guard count == 1, let candidates = written[key] else { continue }
      for (model, candidate) in candidates where candidate.token == token {
        insert(candidate.value, for: Name(model: model, question: .row(key)), weight: 1)
      }
    }
  }

  /// Drops rows that were written by commits of which the record is behind us.
  mutating func dropWritten(upTo token: ChangeToken) {
    guard !written.isEmpty else { return }
    for key in written.keys {
      written[key] = written[key]?.filter { $0.value.token.number > token.number }
      if written[key]?.isEmpty == true { written[key] = nil }
    }
  }

  /// - Parameter butWritten: whether rows stay that still wait for their commit's record.
  mutating func dropAll(butWritten: Bool = false) {
    if !butWritten { written = [:] }
    guard !rows.isEmpty || !queries.isEmpty else { return }
    metrics.tableInvalidations += 1
    rows = [:]
    queries = [:]
    weight = 0
  }

  private mutating func dropQueries() {
    guard !queries.isEmpty else { return }
    metrics.queryInvalidations += queries.count
    for entry in queries.values { weight -= entry.weight }
    queries = [:]
  }

  /// Makes room: drops the least recently used until an eighth is free.
  private mutating func evict() {
    var all: [(use: UInt64, weight: Int, name: Name)] = queries.map { ($1.lastUse, $1.weight, $0) }
    for (key, entries) in rows {
      for (model, entry) in entries {
        all.append((entry.lastUse, entry.weight, Name(model: model, question: .row(key))))
      }
    }
    all.sort { $0.use < $1.use }
    for (_, entryWeight, name) in all {
      guard weight > limit - limit / 8 else { return }
      switch name.question {
      case .row(let key):
        rows[key]?[name.model] = nil
        if rows[key]?.isEmpty == true { rows[key] = nil }
      case .query: queries[name] = nil
      }
      weight -= entryWeight
      metrics.evictions += 1
    }
  }
}
