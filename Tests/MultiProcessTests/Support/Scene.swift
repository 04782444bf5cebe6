import Foundation
import ProcessHarness
import SharedFileCoordination
import Testing

/// The stage of one test: a directory with a database, and processes that end with the test.
struct Scene: Sendable {
  let directory: String
  let children: ChildProcesses

  /// The database that the test is about.
  var path: String { directory + "/app.db" }

  /// Starts a worker; the database is not open yet.
  func worker(_ options: [String] = []) async throws -> WorkerProcess {
    try await ready(children.start(built: "boutique-test-worker", options))
  }

  /// Waits until a worker that was just started takes commands.
  func ready(_ child: ChildProcess) async throws -> WorkerProcess {
    let worker = WorkerProcess(child)
    _ = try await child.nextMessage("ready") { $0["event"] == "ready" }
    return worker
  }

  /// Starts a worker and opens the database in it, with the common schema unless told otherwise.
  func opened(_ label: String, _ members: [String: JSONValue] = [:]) async throws -> WorkerProcess {
    let worker = try await worker()
    try await open(in: worker, label, members)
    return worker
  }

  /// Opens the database in a worker.
  func open(
    in worker: WorkerProcess, _ label: String, _ members: [String: JSONValue] = [:]
  ) async throws {
    try await worker.perform("open", opening(label, members))
  }

  /// What `open` is told: the label, the common schema, and these members instead.
  func opening(_ label: String, _ members: [String: JSONValue] = [:]) -> [String: JSONValue] {
    [
      "path": .text(path), "label": .text(label), "migrations": Scene.commonSchema,
    ].merging(members) { _, new in new }
  }

  /// Notes to watch, a counter, and a log of acknowledged numbers beside two accounts whose sum is 0
  /// and of which the second counts the log: a half transaction cannot hide.
  static let commonSchema: JSONValue = [
    [
      "id": "common",
      "sql": [
        "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)",
        "INSERT INTO counter VALUES (1, 0)",
        "CREATE TABLE log (writer TEXT, number INTEGER, PRIMARY KEY (writer, number))",
        "CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)",
        "INSERT INTO account VALUES (1, 0), (2, 0)",
      ],
    ]
  ]

  /// The statements that keep the accounts in step with the log, for `append`.
  static let transfer: JSONValue = [
    "UPDATE account SET amount = amount - 1 WHERE id = 1",
    "UPDATE account SET amount = amount + 1 WHERE id = 2",
  ]

  /// Sum of the accounts, second account, length of the log: 0, n, n.
  static let invariant = """
    SELECT (SELECT sum(amount) FROM account), (SELECT amount FROM account WHERE id = 2), \
    (SELECT count(*) FROM log)
    """

  /// Waits until a worker stands in line for the write lease, as the lock file tells anyone who looks.
  func waitUntilInLine(_ worker: WorkerProcess) async throws {
    let clock = ContinuousClock()
    let bound = clock.now + ChildProcess.usualBound
    while clock.now < bound {
      let waiters = LockReport.of(databasePath: path).waiters
      if waiters.contains(where: { $0.process?.pid == worker.processID }) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw worker.child.failure(.timedOut(ChildProcess.usualBound), "its place in line")
  }

  // MARK: Foreign writers

  /// Runs SQL in the `sqlite3` shell and returns what it printed.
  @discardableResult
  func shell(_ sql: String, on path: String? = nil) async throws -> [String] {
    let shell = try await children.start(
      ChildCommand(
        "sqlite3", ["-batch", "-bail", "-cmd", ".timeout 30000", path ?? self.path, sql]))
    let status = try await shell.exit()
    if status != .exited(0) { throw shell.failure(.ended(status), "success of \(sql)") }
    return shell.takeLines()
  }

  /// Starts a Python program with `db`, a connection to the database, already made.
  func python(_ program: String) async throws -> ChildProcess {
    let prelude = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      def say(text):
          print(text, flush=True)

      """
    return try await children.start(ChildCommand("python3", ["-c", prelude + program, path]))
  }

  /// Fails the test unless SQLite finds the database whole.
  func expectIntegrity(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await expectShell("PRAGMA integrity_check", ["ok"], sourceLocation: sourceLocation)
  }

  /// Fails the test unless the shell prints these lines.
  func expectShell(
    _ sql: String, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await shell(sql)
    #expect(found == expected, sourceLocation: sourceLocation)
  }
}

/// Gives a test a directory and processes of its own.
///
/// The directory is removed afterwards, unless BOUTIQUE_KEEP_TEMPORARY is set, as `.ci/run` does.
func withScene(_ body: (Scene) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("boutique-\(UUID().uuidString.prefix(8))").path
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer {
    if ProcessInfo.processInfo.environment["BOUTIQUE_KEEP_TEMPORARY"] == nil {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }
  try await withChildProcesses { children in
    try await body(Scene(directory: directory, children: children))
  }
}

/// A number generator that gives the same numbers again for the same seed (SplitMix64, Steele and
/// others, 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Takes the seed of BOUTIQUE_SEED, or a new one, and prints it.
  init(for test: String) {
    let given = ProcessInfo.processInfo.environment["BOUTIQUE_SEED"].flatMap { UInt64($0) }
    state = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("\(test): BOUTIQUE_SEED=\(state)")
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
