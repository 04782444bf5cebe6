import BoutiqueDB
import Glibc

/// What was compared at the end, and whether it agreed.
struct Verification: Sendable {
  /// One comparison.
  struct Finding: Sendable {
    var holds: Bool
    var text: String
    /// Examples of what differs.
    var details: [String] = []
  }

  private(set) var findings: [Finding] = []
  /// Rows in the database.
  private(set) var rows = 0
  /// Files that changed, came or went between the first walk and the last.
  private(set) var unsteady = 0
  private(set) var databaseBytes: Int64 = 0

  /// Whether all comparisons agreed.
  var holds: Bool { findings.allSatisfy(\.holds) }

  private static let exampleLimit = 5

  /// Compares everything with everything.
  static func run(
    place: DemoPlace, before: TreeSnapshot, result: RunResult, staleRows: Int
  ) async throws -> Verification {
    let database = try await BoutiqueDB.open(
      path: place.database, configuration: DemoSchema.configuration(label: "coordinator"),
      migrations: DemoSchema.plan)
    do {
      var verification = Verification()
      let stored = try await database.read { try StoredState($0) }
      verification.rows = stored.records.count
      verification.checkEndings(result)
      let problems = try await database.integrityCheck()
      verification.note(problems.isEmpty, "integrity_check of the database is ok", problems)
      verification.checkCommits(stored, result)
      verification.checkShell(stored, result, staleRows)
      verification.checkReporter(stored, result)
      try verification.checkTree(stored, place, before, result)
      verification.databaseBytes = try await database.status().databaseBytes
      await database.close()
      return verification
    } catch {
      await database.close()
      throw error
    }
  }

  private mutating func note(_ holds: Bool, _ text: String, _ details: [String] = []) {
    findings.append(Finding(holds: holds, text: text, details: details))
  }

  // MARK: Processes

  private mutating func checkEndings(_ result: RunResult) {
    var faults: [String] = []
    for (label, ending, link) in result.indexers {
      if ending != .exited(0) {
        faults.append("\(label) \(ending)")
      } else if link.indexerAccount?.wasStopped ?? true {
        faults.append("\(label) was asked to end before its share was done")
      }
    }
    if result.reporterEnding != .exited(0) { faults.append("reporter \(result.reporterEnding)") }
    if result.shellEnding != .exited(0) { faults.append("sqlite3 \(result.shellEnding)") }
    faults += result.shell.complaints.map { "sqlite3 said: \($0)" }
    note(faults.isEmpty, "every process did its work and ended with status 0", faults)
  }

  private mutating func checkCommits(_ stored: StoredState, _ result: RunResult) {
    var faults: [String] = []
    var told = [SQLiteShell.label: result.shell.transactions]
    for (label, _, link) in result.indexers { told[label] = link.indexerAccount?.transactions }
    for (label, count) in told.sorted(by: { $0.key < $1.key }) {
      let found = stored.commits[label] ?? 0
      if found != count { faults.append("\(label) made \(count), the database has \(found)") }
    }
    note(
      faults.isEmpty, "the database has every transaction that the writers were told is committed",
      faults)
  }

  private mutating func checkShell(
    _ stored: StoredState, _ result: RunResult, _ staleRows: Int
  ) {
    var faults: [String] = []
    if stored.deleted != staleRows {
      faults.append("\(stored.deleted) of the \(staleRows) planted rows were deleted")
    }
    if stored.stale != 0 { faults.append("\(stored.stale) planted rows are still there") }
    let swept = result.indexers.reduce(0) { $0 + ($1.link.indexerAccount?.notesSwept ?? 0) }
    if stored.noted != stored.notesFound + swept {
      faults.append("\(stored.noted) rows were noted, \(stored.notesFound) have a note")
    }
    note(
      faults.isEmpty,
      "what the sqlite3 shell did is all there: \(Figures.count(stored.deleted)) rows deleted, "
        + "\(Figures.count(stored.noted)) noted", faults)
  }

  private mutating func checkReporter(_ stored: StoredState, _ result: RunResult) {
    var faults: [String] = []
    if result.reporterEndedEarly {
      faults.append("it ended before the writers did")
    } else if !result.reporterCaughtUp {
      faults.append("it did not deliver a value with commit \(result.lastStamp) in time")
    }
    let commits = stored.commits.values.reduce(0, +)
    if let account = result.reporter {
      if account.commitsSeen != commits {
        faults.append("it saw \(account.commitsSeen) of \(commits) commits")
      }
      faults += Self.differences(account.last, "live", stored.totals, "fresh")
    } else {
      faults.append("the reporter left no account")
    }
    note(
      faults.isEmpty,
      "the reporter's last live value equals a fresh query, and it saw all "
        + "\(Figures.count(commits)) commits", faults)
  }

  // MARK: The tree

  private mutating func checkTree(
    _ stored: StoredState, _ place: DemoPlace, _ before: TreeSnapshot, _ result: RunResult
  ) throws {
    var steady: [FilePath: FileRecord] = [:]
    var moving = Set<FilePath>()
    var walk = try TreeWalk(excluding: place.excludedPrefix)
    while let path = walk.next() {
      let reading = FileRecord.read(path)
      // Looked at after reading: the same as before the run means that it was the same all along.
      guard let state = FileState(CPath.text(path.bytes)), state == before.files[path] else {
        moving.insert(path)
        continue
      }
      switch reading {
      case .record(let record), .unreadable(let record): steady[path] = record
      case .vanished: moving.insert(path)
      }
    }
    for path in before.files.keys where steady[path] == nil { moving.insert(path) }

    var faults = Examples(limit: Self.exampleLimit)
    var expected = Array(steady.values)
    for record in stored.records {
      if let file = steady.removeValue(forKey: record.path) {
        if file != record { faults.add(Self.difference(record, file)) }
      } else {
        let isMoving = moving.contains(record.path)
        if !isMoving, !Self.directoryChanged(of: record.path, since: before.time) {
          faults.add("the database has \(record.path.shown), the tree never had")
        }
        moving.insert(record.path)
        expected.append(record)
      }
    }
    for path in steady.keys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
      faults.add("the tree has \(path.shown), the database does not")
    }
    unsteady = moving.count
    note(
      faults.count == 0,
      "every row equals its file: path, kind, size, time, hash"
        + (unsteady > 0 ? " (\(unsteady) changed during the run and are left out)" : ""),
      faults.lines)

    let walked = KindTotals.of(expected)
    let differences =
      result.reporter.map { Self.differences($0.last, "live", walked, "tree") }
      ?? ["the reporter left no account"]
    note(
      differences.isEmpty,
      "the reporter's last live value equals what walking the tree gives"
        + (unsteady > 0 ? " (with the files left out taken as stored)" : ""), differences)
  }

  /// Whether a file that is in neither walk can have come and gone in between.
  private static func directoryChanged(of path: FilePath, since time: Int64) -> Bool {
    let end = path.bytes.lastIndex(of: UInt8(ascii: "/"))
    let directory = end.map { Array(path.bytes[..<$0]) } ?? Array(".".utf8)
    var information = stat()
    guard stat(CPath.text(directory), &information) == 0 else { return true }
    // File times come from a clock that may lag by a tick.
    return Int64(information.st_ctim.tv_sec) >= time / 1_000_000_000 - 1
  }

  private static func difference(_ row: FileRecord, _ file: FileRecord) -> String {
    var parts: [String] = []
    if row.kind != file.kind { parts.append("kind \(row.kind), file \(file.kind)") }
    if row.size != file.size { parts.append("size \(row.size), file \(file.size)") }
    if row.modified != file.modified {
      parts.append("modified \(row.modified), file \(file.modified)")
    }
    if row.hash != file.hash {
      parts.append("hash \(row.hash ?? "none"), file \(file.hash ?? "none")")
    }
    return "\(row.path.shown): row has " + parts.joined(separator: "; ")
  }

  private static func differences(
    _ left: [KindTotal], _ leftName: String, _ right: [KindTotal], _ rightName: String
  ) -> [String] {
    var faults = Examples(limit: exampleLimit)
    let kinds = Set(left.map(\.kind)).union(right.map(\.kind)).sorted()
    for kind in kinds {
      let (a, b) = (left.first { $0.kind == kind }, right.first { $0.kind == kind })
      if a == b { continue }
      func text(_ total: KindTotal?) -> String {
        total.map {
          "\($0.files) files, \($0.bytes) bytes, largest \($0.largestSize) (\($0.largest.shown))"
        } ?? "nothing"
      }
      faults.add("\(kind): \(leftName) \(text(a)); \(rightName) \(text(b))")
    }
    return faults.lines
  }
}

/// A few of many faults.
private struct Examples {
  let limit: Int
  private(set) var count = 0
  private var kept: [String] = []

  init(limit: Int) { self.limit = limit }

  mutating func add(_ text: String) {
    count += 1
    if kept.count < limit { kept.append(text) }
  }

  var lines: [String] { count > kept.count ? kept + ["… \(count - kept.count) more"] : kept }
}

/// All that the database says at the end, read in one snapshot.
private struct StoredState: Sendable {
  var records: [FileRecord] = []
  var totals: [KindTotal] = []
  var commits: [String: Int] = [:]
  var stale = 0
  var noted = 0
  var notesFound = 0
  var deleted = 0

  init(_ connection: BoutiqueConnection) throws {
    totals = try KindTotals.fetch(connection)
    try connection.forEachRow("SELECT path, kind, size, modified, hash, note FROM file") { row in
      let kind = try row.decode(1, as: String.self)
      if kind == FileKind.stale {
        stale += 1
        return
      }
      guard let path = FilePath(row[0]) else {
        throw DemoFailure("a path in the database is \(row[0]), neither text nor blob")
      }
      if !row[5].isNull { notesFound += 1 }
      records.append(
        FileRecord(
          path: path, kind: kind, size: try row.decode(2), modified: try row.decode(3),
          hash: row[4].isNull ? nil : try row.decode(4)))
    }
    for row in try connection.query("SELECT writer, count(*) FROM commit_stamp GROUP BY writer") {
      commits[try row.decode(0)] = try row.decode(1, as: Int.self)
    }
    let shell = try connection.queryOne(
      "SELECT coalesce(sum(noted), 0), coalesce(sum(deleted), 0) FROM shell_step")
    noted = try shell?.decode(0) ?? 0
    deleted = try shell?.decode(1) ?? 0
  }
}
