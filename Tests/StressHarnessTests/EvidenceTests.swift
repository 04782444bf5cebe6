import BoutiqueDB
import Foundation
import ProcessHarness
import StressFaults
import StressHarness
import StressHistory
import StressReport
import TestDatabase
import Testing

/// What is shown with a violation that a process has noted.
@Suite struct EvidenceTests {
  private static func write(
    _ value: Int64, process: Int = 0, _ began: Int64, _ ended: Int64?,
    _ outcome: OperationRecord.Outcome = .done
  ) -> OperationRecord {
    OperationRecord(
      process: process, number: Int(value), name: "write",
      steps: [Step(.set, "x", .integer(value))],
      began: began, ended: ended, outcome: outcome)
  }

  private static func note(_ value: StepValue, from began: Int64, to time: Int64) -> Note {
    Note(
      .violation, process: 1, time: time, subject: "stale", text: "", since: began,
      seen: [Step(.read, "x", value)])
  }

  private static let history = History(operations: [
    write(1, 0, 10), write(2, 20, 30), write(3, process: 2, 25, nil, .unknown), write(4, 40, 50),
  ])

  @Test func `the writer of what was seen and the newest write before it show it`() {
    let shown = Evidence(Self.history).operations(for: Self.note(.integer(1), from: 60, to: 70))
    #expect(shown.map(\.number) == [1, 4, 0])
    #expect(shown.last?.process == 1)
    #expect(shown.last?.steps == [Step(.read, "x", .integer(1))])
    #expect(shown.last?.began == 60)
    #expect(shown.last?.ended == 70)
    // A write that was not acknowledged before the look need not be seen.
    let early = Evidence(Self.history).operations(for: Self.note(.integer(1), from: 45, to: 46))
    #expect(early.map(\.number) == [1, 2, 0])
  }

  @Test func `what nobody wrote is shown with what was under way`() {
    var note = Self.note(.integer(77), from: 26, to: 28)
    note.seen = [Step(.read, "half of x", .integer(77))]
    #expect(Evidence(Self.history).operations(for: note).map(\.number) == [2, 3, 0])
  }

  @Test func `what was found in the end comes after all`() {
    let shown = Evidence(Self.history).operations(atEnd: [Step(.read, "x", .integer(2))])
    #expect(shown.map(\.number) == [2, 4, 0])
  }

  @Test func `an error is shown by the operation that was answered with it`() {
    var history = Self.history
    history.operations[1].error = "broken"
    history.operations[1].outcome = .refused
    let note = Note(.violation, process: 0, time: 31, subject: "error in write", text: "broken")
    #expect(Evidence(history).operations(for: note).map(\.number) == [2])
    let other = Note(.violation, process: 1, time: 31, subject: "error in write", text: "broken")
    #expect(Evidence(history).operations(for: other).isEmpty)
  }

  @Test func `what was seen is in the history's file`() throws {
    let place = try TestDirectory()
    let path = place.file("1.jsonl")
    let log = try HistoryLog(path: path, process: 1)
    let seen = [Step(.read, "a \"b\"", .list([1, 2])), Step(.read, "c")]
    log.note(.violation, "stale", "a \"text\"", since: 5, seen: seen)
    log.note(.error, "e", "f")
    let notes = try History.read(files: [path]).notes
    #expect(notes.map(\.seen) == [seen, nil])
    #expect(notes.map(\.since) == [5, nil])
    #expect(notes.map(\.text) == ["a \"text\"", "f"])
  }

  // MARK: Errors

  private static func fault(
    _ kind: FaultKind, at began: Int64, didStrike: Bool = true
  ) -> FaultRecord {
    FaultRecord(
      event: FaultEvent(kind: kind, time: 0), began: began, ended: began + 5, didStrike: didStrike)
  }

  @Test(arguments: [
    ("corrupt", [fault(.ioError, at: 20)], Note.Kind.violation),
    ("corrupt", [fault(.ioError, at: 5)], .trouble),
    ("corrupt", [fault(.ioError, at: 5, didStrike: false)], .violation),
    ("corrupt", [fault(.pause, at: 5)], .violation), ("timedOut", [fault(.pause, at: 5)], .trouble),
    ("timedOut", [fault(.inotifyOverflow, at: 5)], .trouble),
    ("diskFull", [fault(.pause, at: 5), fault(.diskFull, at: 10)], .trouble),
    ("unexplained", FaultKind.allCases.map { fault($0, at: 1) }, .violation),
    ("no such kind", FaultKind.allCases.map { fault($0, at: 1) }, .violation),
  ])
  func `only a fault that had struck explains an error`(
    error: String, faults: [FaultRecord], kind: Note.Kind
  ) {
    let note = Note(
      .error, process: 0, time: 10, subject: "error in x", text: "", since: 10,
      seen: [Step(.read, "error", .text(error))])
    #expect(ErrorJudgement.judged(note, by: faults).kind == kind)
  }

  @Test func `notes that are no errors stay as they are`() {
    let note = Note(.violation, process: 0, time: 10, subject: "error in x", text: "")
    #expect(ErrorJudgement.judged(note, by: [Self.fault(.ioError, at: 1)]) == note)
  }

  // MARK: The file

  @Test func `damage is shown with what was done last`() async throws {
    let place = try TestDirectory()
    try FileManager.default.createDirectory(
      atPath: place.file("data"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: place.file("history"), withIntermediateDirectories: true)
    let plan = RunPlan(workload: "counters", seed: 1)
    try JSONEncoder().encode(plan).write(to: place.url("plan.json"))
    let run = RunContext(plan: plan, directory: place.path, program: "")
    try await CountersSchema.make(run)
    let log = try HistoryLog(path: place.file("history/0.jsonl"), process: 0)
    log.end(log.begin("add", [Step(.add, "x", .integer(1))]), .done)
    _ = log.begin("add", [Step(.add, "x", .integer(1))])
    try await withChildProcesses { children in
      let shell = try await children.start(
        ChildCommand(
          "sqlite3",
          [
            run.database,
            "DELETE FROM boutiquedb_cdc WHERE token = (SELECT token FROM boutiquedb_cdc LIMIT 1 OFFSET 2)",
          ]))
      try await shell.exit()
    }
    let recorded = try RecordedRun(directory: place.path, program: "", faults: [])
    let found = try await recorded.violations().filter { $0.check == "integrity" }
    #expect(found.first?.operations.map(\.number) == [1, 2], "\(found)")
  }
}

/// The database of a workload, with some commits in it.
private enum CountersSchema {
  static func make(_ run: RunContext) async throws {
    try await Workloads.named("counters")?.init().prepare(run)
    let db = try await BoutiqueDB.open(path: run.database)
    for _ in 0..<4 { try await db.write { try $0.execute("CREATE TABLE IF NOT EXISTS x (a)") } }
    for value in 0..<4 { try await db.write { try $0.execute("INSERT INTO x VALUES (?)", value) } }
    await db.close()
  }
}
