import LockInspection
import SharedFileCoordination
import Testing

/// What is found wrong, from the model alone.
@Suite struct DiagnosisTests {
  private static func database() -> DatabaseInspection {
    var lockFile = LockFileFacts(path: "/app.db-lock", condition: .good)
    lockFile.slotCount = 128
    var database = DatabaseInspection(path: "/app.db", lockFile: lockFile)
    database.isThere = true
    database.journalMode = .wal
    return database
  }

  private static func member(
    _ pid: Int32, _ state: ProcessState = .sleeping, role: ProcessFacts.Role = .member
  ) -> ProcessFacts {
    ProcessFacts(
      pid: pid, pidNamespace: .own, parentPid: 7, userId: 0, user: "root", label: "p\(pid)",
      command: "program \(pid)", state: state, role: role, slot: Int(pid), files: [.database])
  }

  private static func kinds(_ database: DatabaseInspection, bound: Double = 5) -> [Finding.Kind] {
    Diagnosis.findings(of: database, bound: bound).map(\.kind)
  }

  @Test func `nothing is found in a database that is well`() {
    var database = Self.database()
    database.processes = [Self.member(1), Self.member(2)]
    database.writeLease = LeaseFacts(holder: database.processes[0].reference, heldForSeconds: 0.1)
    #expect(Self.kinds(database).isEmpty)
  }

  @Test(arguments: [
    (ProcessState.stopped, Finding.Kind.stoppedHolder), (.zombie, .zombieHolder),
    (.running, .longHolder), (.sleeping, .longHolder), (.unknown, .longHolder),
  ])
  func `a holder in whose way others are is a problem`(
    state: ProcessState, kind: Finding.Kind
  ) throws {
    var database = Self.database()
    database.processes = [Self.member(1, state), Self.member(2)]
    database.writeLease = LeaseFacts(
      holder: database.processes[0].reference, purpose: "import", heldForSeconds: 60)
    database.queue = [
      QueueEntry(place: 1, process: database.processes[1].reference, waitingForSeconds: 59)
    ]
    let findings = Diagnosis.findings(of: database, bound: 5)
    let first = try #require(findings.first)
    #expect(first.kind == kind)
    #expect(first.severity == .problem)
    #expect(first.text.contains("pid 1"))
    #expect(first.text.contains("60.0 s"))
    #expect(first.text.contains("import"))
    #expect(first.advice?.isEmpty == false)
    // Within the bound a running one is as it should be.
    database.writeLease?.heldForSeconds = 1
    database.queue[0].waitingForSeconds = 1
    #expect(Self.kinds(database).contains(.longHolder) == false)
  }

  @Test func `a zombie's parent is named`() {
    var database = Self.database()
    database.processes = [Self.member(1, .zombie)]
    database.writeLease = LeaseFacts(holder: database.processes[0].reference, heldForSeconds: 60)
    let finding = Diagnosis.findings(of: database, bound: 5).first
    #expect(finding?.text.contains("its parent, pid 7,") == true)
    #expect(finding?.severity == .warning)
  }

  @Test func `a long wait without a long holder is too much work`() {
    var database = Self.database()
    database.processes = [Self.member(1), Self.member(2)]
    database.writeLease = LeaseFacts(holder: database.processes[0].reference, heldForSeconds: 0.01)
    database.queue = [
      QueueEntry(place: 1, process: database.processes[1].reference, waitingForSeconds: 9)
    ]
    #expect(Self.kinds(database) == [.longWait])
  }

  /// Seen between two looks it is one that has just given the lease up; for longer it is in the way.
  @Test(arguments: [(0.5, false), (3.2, true)])
  func `a process that writes while another has the lease is told of in time`(
    heldFor: Double, isTold: Bool
  ) {
    var database = Self.database()
    database.processes = [Self.member(1), Self.member(2)]
    database.writeLease = LeaseFacts(
      holder: database.processes[0].reference, heldForSeconds: heldFor)
    database.sqliteLocks = [
      SQLiteLockFacts(
        name: .write, isExclusive: true, process: database.processes[1].reference)
    ]
    let findings = Diagnosis.findings(of: database, bound: 5)
    #expect(findings.contains { $0.kind == .foreignWriter } == isTold)
    #expect(findings.contains { $0.advice?.contains("kill 2") == true } == isTold)
  }

  @Test func `who shares a lease by fork is named`() {
    var database = Self.database()
    database.processes = [Self.member(1, .gone), Self.member(2, role: .forked)]
    database.writeLease = LeaseFacts(
      holder: database.processes[0].reference, alsoHeldBy: [database.processes[1].reference],
      heldForSeconds: 1)
    let finding = Diagnosis.findings(of: database, bound: 5).first
    #expect(finding?.kind == .forkedHolder)
    #expect(finding?.text.contains("pid 2") == true)
  }

  @Test func `a holder out of sight is said to be`() {
    var database = Self.database()
    database.writeLease = LeaseFacts()
    #expect(Self.kinds(database) == [.unknownHolder])
  }

  @Test func `a stopped reader counts however little it holds back`() {
    var database = Self.database()
    database.processes = [Self.member(1, .stopped, role: .foreign)]
    var log = LogFacts(bytes: 8240)
    log.frames = 2
    log.checkpointedFrames = 1
    log.uncheckpointedFrames = 1
    log.readers = [
      LogFacts.Reader(
        process: database.processes[0].reference, mark: 1, frame: 1, framesBehind: 1,
        holdsLogBack: true)
    ]
    database.log = log
    #expect(Diagnosis.findings(of: database, bound: 5).first?.severity == .warning)
    database.log?.readers[0].process?.state = .sleeping
    #expect(Diagnosis.findings(of: database, bound: 5).first?.severity == .note)
  }

  @Test func `a consumer that is far behind is told`() {
    var database = Self.database()
    database.changes = ChangeFacts()
    database.changes?.lastToken = 1_000_000
    database.changes?.consumers = [
      ChangeFacts.Consumer(name: "mirror", token: 1, behind: 999_999, lastSeenSecondsAgo: nil)
    ]
    #expect(Self.kinds(database) == [.consumerBehind])
  }

  @Test(arguments: [
    ("/system.slice/app.service", "unit app.service"),
    ("/docker/" + String(repeating: "0123456789abcdef", count: 4), "container 0123456789ab"),
    (
      "/kubepods.slice/pod1.slice/cri-containerd-" + String(repeating: "fedcba9876543210", count: 4)
        + ".scope", "container fedcba987654"
    ),
    ("/lxc.payload.web", "container web"), ("/user.slice/user-0.slice", nil),
  ])
  func `a control group's name tells the container`(group: String, container: String?) {
    #expect(ControlGroup.container(group) == container)
  }

  @Test(arguments: [
    (0.0004, "0 ms"), (0.9, "900 ms"), (3.21, "3.2 s"), (119.9, "119.9 s"), (125, "2 min"),
    (7300, "2 h"), (200_000, "2 days"),
  ])
  func `times are as exact as a person needs`(seconds: Double, text: String) {
    #expect(Wording.time(seconds) == text)
  }
}
