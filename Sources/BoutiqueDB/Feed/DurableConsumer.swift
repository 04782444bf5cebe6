import Glibc
import SQLiteConnection
import SharedFileCoordination

/// A durable consumer of the change feed, as the database knows it.
public struct DurableConsumer: Sendable, Codable, Hashable {
  /// Its name.
  public var name: String
  /// The last change that it has acknowledged, or where it began.
  public var acknowledged: ChangeToken
  /// How many commits it has not acknowledged.
  public var lag: Int64
  /// For how long the oldest of them has waited, in seconds by the wall clock.
  public var lagSeconds: Double
  /// When it last began or acknowledged, in milliseconds since 1970.
  public var lastSeen: Int64
  /// How long it may stay away, in seconds.
  public var expiry: Double
  /// Whether it stayed away longer, so that records are no longer kept for it.
  public var isExpired: Bool
  /// Whether records that it has not acknowledged are gone; it will get one change that says everything.
  public var isCutOff: Bool
  /// The process that consumes under the name now; nil when none does.
  public var pid: Int32?
  /// The label of the process that consumes, or did last.
  public var label: String
}

extension BoutiqueDB {
  /// Returns the durable consumers that the database knows, by name.
  public func consumers() async throws -> [DurableConsumer] {
    let core = core
    return try await core.read { try DurableConsumer.all(of: core, on: $0.sqlite) }
  }

  /// Forgets a durable consumer: records are no longer kept for it, and under its name a new one may begin.
  ///
  /// - Returns: whether there was one.
  /// - Throws: ``BoutiqueError/consumerInUse(_:)`` while it consumes.
  @discardableResult
  public func removeConsumer(_ name: String) async throws -> Bool {
    let core = core
    // No feed of this open database can begin meanwhile.
    guard core.consumers.begin(name) else {
      throw BoutiqueError.consumerInUse(
        ConsumerInUse(
          path: core.path, name: name, pid: getpid(), label: core.configuration.label))
    }
    defer { core.consumers.end(name) }
    return try await core.writeOwn(purpose: "remove consumer \(name)") { sqlite in
      guard let known = try ConsumerTable.find(name, on: sqlite) else { return false }
      if core.coordination?.isClaimedByOther(place: known.place) == true {
        throw BoutiqueError.consumerInUse(
          ConsumerInUse(path: core.path, name: name, pid: known.pid, label: known.label))
      }
      try ConsumerTable.remove(name, on: sqlite)
      return true
    }
  }
}

extension DurableConsumer {
  static func all(of core: OpenDatabase, on sqlite: Connection) throws -> [DurableConsumer] {
    let records = try ConsumerTable.all(on: sqlite)
    guard !records.isEmpty else { return [] }
    let generation = try ChangeReader.generation(on: sqlite)
    let now = WallClock.milliseconds
    let seenFromOutside =
      core.coordination == nil
      ? CoordinationFile.claimed(places: records.map(\.place), forDatabase: core.path) : []
    return try records.map { record in
      let unseen = try unacknowledged(after: record.position.token, on: sqlite)
      let isActive =
        core.consumers.contains(record.name) || seenFromOutside.contains(record.place)
        || core.coordination?.isClaimedByOther(place: record.place) == true
      return DurableConsumer(
        name: record.name, acknowledged: ChangeToken(record.position), lag: unseen.count,
        lagSeconds: unseen.oldest.map { max(0, Double(now - $0) / 1000) } ?? 0,
        lastSeen: record.seen, expiry: Double(record.expiry) / 1000, isExpired: record.isExpired,
        isCutOff: unseen.hasGap || record.position.generation != generation,
        pid: isActive ? record.pid : nil, label: record.label)
    }
  }

  /// Counts the commits after a position that changed anything.
  private static func unacknowledged(
    after token: Int64, on sqlite: Connection
  ) throws -> (count: Int64, oldest: Int64?, hasGap: Bool) {
    let first = try sqlite.prepare(
      "SELECT first FROM boutiquedb_cdc WHERE token > ?1 ORDER BY token LIMIT 1")
    defer { first.reset() }
    try first.bind(token, at: 1)
    guard try first.step() else { return (0, nil, false) }
    let hasGap = first.int64(0) > token + 1
    let select = try sqlite.prepare(
      "SELECT count(*), min(time) FROM boutiquedb_cdc WHERE token > ?1 AND tables <> '[]'")
    defer { select.reset() }
    try select.bind(token, at: 1)
    guard try select.step() else { return (0, nil, hasGap) }
    return (select.int64(0), select.number(1), hasGap)
  }
}
