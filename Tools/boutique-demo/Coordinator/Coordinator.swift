import BoutiqueDB
import CommandLineSupport
import Glibc

/// The process that sets the stage, starts the others, waits, and checks what came of it.
struct Coordinator {
  private static let staleRows = 2000
  private static let batch = 10
  private static let indexerCount = 2
  private static let patience: Int64 = 30

  let place: DemoPlace
  let settings: DemoProgram.Settings
  let interruption: Interruption
  let output: TextOutput
  let style: TerminalStyle

  /// Runs the demo.
  ///
  /// - Returns: the exit status.
  func run() async throws -> Int32 {
    var keepsFiles = settings.keeps
    defer { if !keepsFiles { place.remove() } }
    let began = Clock.monotonic()
    endAtOnceWhenInterrupted()
    let before = try TreeSnapshot.take(excluding: place.excludedPrefix)
    guard !before.files.isEmpty else {
      throw DemoFailure("there is not one regular file in \(place.tree) that could be indexed")
    }
    try say(
      """
      \(style.paint(place.tree.visible(), .bold)): \
      \(Figures.many(before.files.count, "regular file"))\(before.omissions).
      Two indexers write them into
      \(place.database), transactions of \(Self.batch) files,
      a sqlite3 shell updates and deletes rows meanwhile, and a reporter follows it all live:

      """)
    try await prepareDatabase()
    let result = try await runProcesses(fileCount: before.files.count)

    if let signal = interruption.signal {
      try say(
        "\nInterrupted: all processes have ended; the comparison with the tree is left out.\n")
      try sayWhereDatabaseIs()
      return 128 + signal
    }
    endAtOnceWhenInterrupted()
    let verification = try await Verification.run(
      place: place, before: before, result: result, staleRows: Self.staleRows)
    let summary = DemoSummary(
      place: place, style: style, result: result, verification: verification,
      batch: Self.batch, elapsed: Clock.monotonic() - began)
    try say("\n" + summary.text)
    // What went wrong may only be seen in the database.
    if !verification.holds { keepsFiles = true }
    if keepsFiles { try sayWhereDatabaseIs() }
    return (verification.holds ? ExitStatus.success : .failure).rawValue
  }

  /// While no process writes there is nothing to end in order; large trees take long to walk.
  ///
  /// A reporter that has begun ends by itself, as its standard input does.
  private func endAtOnceWhenInterrupted() {
    interruption.handle { [interruption, place, settings] _ in
      if !settings.keeps { place.remove() }
      _exit(128 + (interruption.signal ?? SIGINT))
    }
  }

  // MARK: The stage

  private func prepareDatabase() async throws {
    let database = try await BoutiqueDB.open(
      path: place.database, configuration: DemoSchema.configuration(label: "coordinator"),
      migrations: DemoSchema.plan)
    do {
      try await database.write { connection in
        // No file has such a path, for those are relative to the tree.
        let statement = try connection.prepare(
          "INSERT INTO file (path, kind, size, modified) VALUES (?, ?, 0, 0)")
        for number in 1...Self.staleRows { try statement.run("/stale/\(number)", FileKind.stale) }
      }
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }

  private func orders(_ role: DaemonOrders.Role, label: String, deadline: Int64) -> DaemonOrders {
    DaemonOrders(
      role: role, label: label, database: place.database, tree: place.tree,
      excludedPrefix: place.excludedPrefix, batch: Self.batch, deadline: deadline)
  }

  // MARK: The play

  private func runProcesses(fileCount: Int) async throws -> RunResult {
    var children: [ChildProcess] = []
    do {
      let reporter = try DaemonLink(
        orders(.reporter(fileCount: fileCount), label: "reporter", deadline: 0))
      children.append(reporter.child)
      guard await reporter.waitUntilSeen(0, seconds: Self.patience) else {
        if interruption.signal != nil { return await end(reporter) }
        throw DemoFailure("the reporter did not begin; what it said is above")
      }
      let seconds = settings.seconds ?? (settings.isQuick ? .seconds(4) : .seconds(20))
      let deadline = Clock.monotonic() + Int64(seconds.inSeconds * 1e9)
      var indexers: [DaemonLink] = []
      for share in 0..<Self.indexerCount {
        let indexer = try DaemonLink(
          orders(
            .indexer(share: share, of: Self.indexerCount), label: "indexer-\(share + 1)",
            deadline: deadline))
        children.append(indexer.child)
        indexers.append(indexer)
      }
      let shell = try SQLiteShell(database: place.database)
      children.append(shell.child)
      return await watch(reporter, indexers, shell)
    } catch {
      for child in children { child.signal(SIGTERM) }
      for child in children {
        child.closeInput()
        _ = await child.ending()
      }
      throw error
    }
  }

  private func watch(
    _ reporter: DaemonLink, _ indexers: [DaemonLink], _ shell: SQLiteShell
  ) async -> RunResult {
    interruption.handle { isFirst in
      shell.stop()
      for indexer in indexers { indexer.child.signal(isFirst ? SIGTERM : SIGKILL) }
      if isFirst { return }
      shell.child.signal(SIGKILL)
      reporter.child.signal(SIGKILL)
    }
    async let shellAccount = shell.work()
    var result = RunResult()
    for indexer in indexers {
      let ending = await indexer.child.ending()
      result.indexers.append((indexer.child.label, ending, indexer))
    }
    shell.rest()
    result.shell = await shellAccount
    result.shellEnding = await shell.child.ending()
    result.reporterEndedEarly = reporter.child.endingSoFar != nil
    // The reporter has until now had no reason to know that this was the last commit.
    result.lastStamp = await newestStamp()
    result.reporterCaughtUp = await reporter.waitUntilSeen(
      result.lastStamp, seconds: interruption.signal == nil ? Self.patience : 0)
    let ended = await end(reporter)
    result.reporter = ended.reporter
    result.reporterEnding = ended.reporterEnding
    return result
  }

  private func end(_ reporter: DaemonLink) async -> RunResult {
    reporter.child.signal(SIGTERM)
    var result = RunResult()
    result.reporterEnding = await reporter.child.ending()
    result.reporter = reporter.reporterAccount
    return result
  }

  private func newestStamp() async -> Int64 {
    guard
      let database = try? await BoutiqueDB.open(
        path: place.database, configuration: DemoSchema.configuration(label: "coordinator"),
        migrations: DemoSchema.plan)
    else { return .max }
    let newest = try? await database.read { connection in
      try connection.queryOne("SELECT coalesce(max(id), 0) FROM commit_stamp")?
        .decode(0, as: Int64.self)
    }
    await database.close()
    return (newest ?? nil) ?? .max
  }

  // MARK: Words

  private func say(_ text: String) throws {
    try output.write(text)
    try output.flush()
  }

  private func sayWhereDatabaseIs() throws {
    guard settings.keeps || interruption.signal == nil else { return }
    let query = "SELECT kind, count(*), sum(size) FROM file GROUP BY kind ORDER BY 2 DESC"
    try say(
      """

      The database is left at \(place.database). To look at it:
        sqlite3 -box '\(place.database)' "\(query)"
        swift run boutique query '\(place.database)' "\(query)"

      """)
  }
}

/// What came of the processes.
struct RunResult {
  var indexers: [(label: String, ending: ChildProcess.Ending, link: DaemonLink)] = []
  var shell = SQLiteShell.Account()
  var shellEnding: ChildProcess.Ending = .exited(0)
  var reporter: ReporterAccount?
  var reporterEnding: ChildProcess.Ending = .exited(0)
  /// The newest row of `commit_stamp` when all writers had ended.
  var lastStamp: Int64 = 0
  var reporterCaughtUp = false
  /// Whether it was gone before the writers had ended.
  var reporterEndedEarly = false
}
