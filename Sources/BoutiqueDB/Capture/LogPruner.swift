import FaultPoints
import SQLiteConnection
import SharedFileCoordination

/// Removes records of the change log that nobody needs any more, a bounded number at a time.
///
/// A record goes when it is beyond the retention and every durable consumer has acknowledged it, or when it
/// is beyond the hard bound, whoever waits for it. Only from the old end, so that there are no holes (a wall
/// clock that was set back must not make any), and never the newest one, since it is where others continue
/// and where the numbers go on from. What belongs to a record (images, session) goes with it. A reader that
/// was further behind finds a gap and refreshes everything.
///
/// Steps: look, once in so many commits, how far may be removed; then remove a step's worth with each
/// sixteenth commit until that is reached. Each commit pays for one step at most. All of it lies in the
/// transaction of a commit and is undone with it; a look that was undone is repeated.
///
/// Confined to the writer thread.
final class LogPruner {
  /// How many records one step removes at most.
  static let stepRows: Int64 = 1024
  /// How many change numbers (and so images) one step covers at most, beside its first record's.
  static let stepChanges: Int64 = 65_536
  /// How many of the oldest records a look judges by their age.
  private static let ageWindow: Int64 = 4096

  private let sqlite: Connection
  private let retention: BoutiqueConfiguration.Retention
  private let path: String
  /// Whether a consumer's place is owned by a living process.
  private let isActive: (_ name: String, _ place: Int64) -> Bool
  private var commits = 0
  /// Up to where records may go; nil when that is reached.
  private var limit: Int64?
  private var isWindowFull = false
  private var cutOff: Set<String> = []

  init(
    sqlite: Connection, retention: BoutiqueConfiguration.Retention,
    isActive: @escaping (_ name: String, _ place: Int64) -> Bool
  ) {
    self.sqlite = sqlite
    self.retention = retention
    path = sqlite.path
    self.isActive = isActive
  }

  /// How many commits pass between two looks: each counts through the whole retained log once, so the cost
  /// for one commit stays constant.
  private var interval: Int { max(16, retention.rows / 16) }

  /// Notes that a commit of this process is done.
  func didCommit() { commits += 1 }

  /// Notes that what was reported last has not come to be.
  func didRollBack() { cutOff = [] }

  /// Removes records when it is time to.
  ///
  /// - Parameters:
  ///   - newest: the token of the record that is being written.
  ///   - time: its time.
  /// - Returns: what an operator should know, once the transaction is committed.
  func pruneNowAndThen(newest: Int64, time: Int64) throws -> [BoutiqueEvent] {
    var events: [BoutiqueEvent] = []
    if limit == nil {
      guard commits >= interval else { return [] }
      events = try look(newest: newest, time: time)
    } else if commits < 16 {
      return []
    }
    commits = 0
    try step()
    return events
  }

  // MARK: Looking

  private func look(newest: Int64, time: Int64) throws -> [BoutiqueEvent] {
    try forgetOrigins()
    var (floor, consumers, events) = try judgeConsumers(newest: newest, time: time)
    let oldest = try token(of: "SELECT first FROM boutiquedb_cdc ORDER BY token LIMIT 1") ?? newest
    let byRows = try tokenBeyond(rows: retention.rows) ?? 0
    var cut = max(byRows, try tokenBeyondAge(time: time))
    if cut > floor, !Sabotage.noPruneGuard.isOn {
      cut = floor
      // Cheap to rule out: each record takes a number at least.
      if newest - oldest >= Int64(retention.hardRows),
        let bound = try tokenBeyond(rows: retention.hardRows), bound > cut
      {
        cut = bound
      }
    }
    cut = min(cut, newest - 1)
    // Told once for each consumer, until it has caught up.
    consumers = consumers.filter { $0.position.token < cut }
    let behind = Set(consumers.map(\.name))
    for consumer in consumers where !cutOff.contains(consumer.name) {
      events.append(
        .logBoundReached(
          BoutiqueEvent.LogBound(
            path: path, consumer: consumer.name, pid: consumer.pid, label: consumer.label,
            acknowledged: consumer.position.token, removedThrough: cut,
            hardRows: retention.hardRows)))
    }
    cutOff = behind
    limit = cut >= oldest ? cut : nil
    return events
  }

  /// Forgets consumers that have stayed away too long.
  ///
  /// - Returns: up to where all others have acknowledged, and who they are.
  private func judgeConsumers(
    newest: Int64, time: Int64
  ) throws -> (floor: Int64, [ConsumerRecord], [BoutiqueEvent]) {
    var floor = newest
    var living: [ConsumerRecord] = []
    var events: [BoutiqueEvent] = []
    let generation = try ChangeReader.generation(on: sqlite)
    for consumer in try ConsumerTable.all(on: sqlite) where !consumer.isExpired {
      if time.saturatingAdd(-consumer.expiry) > consumer.seen {
        if isActive(consumer.name, consumer.place) {
          try ConsumerTable.noteSeen(consumer.name, at: time, on: sqlite)
        } else {
          try ConsumerTable.expire(consumer.name, on: sqlite)
          events.append(
            .consumerExpired(
              BoutiqueEvent.ExpiredConsumer(
                path: path, consumer: consumer.name, lastSeen: consumer.seen,
                acknowledged: consumer.position.token)))
          continue
        }
      }
      guard consumer.position.generation == generation else { continue }
      floor = min(floor, consumer.position.token)
      living.append(consumer)
    }
    return (floor, living, events)
  }

  private func tokenBeyond(rows: Int) throws -> Int64? {
    try token(
      of: "SELECT token FROM boutiquedb_cdc ORDER BY token DESC LIMIT 1 OFFSET ?1",
      Int64(max(1, rows)))
  }

  /// Returns the last of the oldest records that are all too old.
  private func tokenBeyondAge(time: Int64) throws -> Int64 {
    let select = try sqlite.prepare(
      "SELECT token, time FROM boutiquedb_cdc ORDER BY token LIMIT ?1")
    defer { select.reset() }
    try select.bind(Self.ageWindow, at: 1)
    let limit = time.saturatingAdd(-(retention.age.nanosecondsClamped / 1_000_000))
    var cut: Int64 = 0
    var count: Int64 = 0
    isWindowFull = false
    while try select.step() {
      if select.int64(1) >= limit { return cut }
      cut = select.int64(0)
      count += 1
    }
    isWindowFull = count == Self.ageWindow
    return cut
  }

  private func token(of sql: String, _ argument: Int64? = nil) throws -> Int64? {
    let select = try sqlite.prepare(sql)
    defer { select.reset() }
    if let argument { try select.bind(argument, at: 1) }
    return try select.step() ? select.int64(0) : nil
  }

  /// Keeps the table of origins small: it holds whoever made a record that is still there, and some more.
  private func forgetOrigins() throws {
    guard (try token(of: "SELECT count(*) FROM boutiquedb_origin") ?? 0) > 64 else { return }
    try sqlite.execute(
      "DELETE FROM boutiquedb_origin WHERE id NOT IN (SELECT origin FROM boutiquedb_cdc)")
  }

  // MARK: Removing

  private func step() throws {
    guard let limit else { return }
    guard let last = try lastOfStep(limit: limit) else {
      self.limit = nil
      return
    }
    for sql in [
      "DELETE FROM boutiquedb_cdc WHERE token <= ?1",
      "DELETE FROM boutiquedb_image WHERE change_id <= ?1",
    ] {
      let delete = try sqlite.prepare(sql)
      defer { delete.reset() }
      try delete.bind(last, at: 1)
      try delete.run()
    }
    try SessionTable.prune(through: last, on: sqlite)
    FaultPoint.reach(.inPruning)
    guard try token(of: "SELECT 1 FROM boutiquedb_cdc WHERE token <= ?1 LIMIT 1", limit) == nil
    else { return }
    self.limit = nil
    // More may be too old than a look has seen.
    if isWindowFull { commits = interval }
  }

  private func lastOfStep(limit: Int64) throws -> Int64? {
    let select = try sqlite.prepare(
      "SELECT token, first FROM boutiquedb_cdc WHERE token <= ?1 ORDER BY token LIMIT ?2")
    defer { select.reset() }
    try select.bind(limit, at: 1)
    try select.bind(Self.stepRows, at: 2)
    var start: Int64?
    var last: Int64?
    while try select.step() {
      let begin = start ?? select.int64(1)
      start = begin
      if last != nil, select.int64(0) - begin > Self.stepChanges { break }
      last = select.int64(0)
    }
    return last
  }
}
