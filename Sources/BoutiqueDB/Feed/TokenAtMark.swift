import SQLiteConnection

extension BoutiqueDB {
  /// Returns the position at which a mark was that of the newest commit, to begin a change feed from.
  ///
  /// For those who must say "from now on" without waiting: they take ``commitMark`` at once, and its token
  /// when there is time.
  ///
  /// - Parameter limit: how many commits to look back.
  /// - Returns: the token, or nil where the log cannot tell: the mark is of another session of the
  ///   database, or more was committed since.
  /// - Throws: ``BoutiqueError``, or `CancellationError`.
  public func token(at mark: CommitMark, atMost limit: Int = 4096) async throws -> ChangeToken? {
    let core = core
    return try await core.read { connection in
      let presence = core.presence(on: connection.sqlite)
      return try ChangeReader.token(
        atCounter: mark.mark.change, continuity: presence.continuity, limit: limit,
        on: connection.sqlite)
    }
  }
}

extension ChangeReader {
  /// Returns the position at which the WAL index's change counter had a value in this continuity.
  ///
  /// Rows of the log say the counter before and after them, and foreign commits lie in the gaps between. A
  /// recovery sets the counter back; then the value is ahead of every row, and the reader of the token finds
  /// the present behind it.
  fileprivate static func token(
    atCounter counter: UInt32, continuity: Int64?, limit: Int, on sqlite: Connection
  ) throws -> ChangeToken? {
    guard let continuity, let generation = try generation(on: sqlite) else { return nil }
    func token(_ number: Int64, _ stamp: Int64?) -> ChangeToken {
      ChangeToken(
        generation: generation, number: number, stamp: stamp, counter: counter,
        continuity: continuity)
    }
    let select = try sqlite.prepare(
      """
      SELECT token, first, time, counter_before, counter_after, continuity, tables = '[]'
        FROM boutiquedb_cdc ORDER BY token DESC LIMIT ?1
      """)
    defer { select.reset() }
    try select.bind(Int64(max(1, limit)), at: 1)
    var later: (first: Int64, before: UInt32?)?
    while try select.step() {
      guard select.number(5) == continuity else {
        // Before the first commit of this continuity there were only foreign ones, or none.
        guard (later?.before ?? sqlite.walIndexHeader()?.change) == counter else { return nil }
        return token(select.int64(0), select.int64(2))
      }
      guard let after = select.counter(4) else { return nil }
      if !after.isAhead(of: counter) { return token(select.int64(0), select.int64(2)) }
      let before = select.counter(3)
      if let before, counter.isAhead(of: before) {
        // In the middle of a row that stands for several commits: either they changed nothing and have a
        // number each, or they are foreign ones that were put into the log together.
        let passed = select.int64(6) != 0 ? Int64(counter &- before) : 0
        return token(select.int64(1) - 1 + passed, nil)
      }
      later = (select.int64(1), before)
    }
    guard let later, later.before == counter else { return nil }
    return token(later.first - 1, nil)
  }
}
