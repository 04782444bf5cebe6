import CFaultVFS
package import FaultPoints
import Foundation
import Glibc
package import ProcessHarness
import StressHistory
import Synchronization

/// Brings faults about, from the process that leads the run.
///
/// Whatever it changes outside the run's own files is noted in ``Undoing``, so that it ends with the process.
package actor FaultInjector {
  let control: FaultControl
  let database: String
  var directory: String { URL(filePath: database).deletingLastPathComponent().path }
  var lockFile: String { database + "-lock" }
  let disk: MemoryDisk?
  /// Where processes are killed; drawn where it is not chosen.
  let point: FaultPoint?
  private var powerCut: PowerCut
  private var isClosed = false
  /// What is going on: a rule has room for one event at a time.
  private var present: Set<Place> = []
  /// The processes that a fault keeps stopped.
  var standing: Set<pid_t> = []
  /// Whether a queue is being made to overflow.
  var isFlooding = false

  /// What some of them are to last until, for tests.
  private var endings: [Place: @Sendable () async -> Void] = [:]

  private struct Place: Hashable {
    let kind: FaultKind
    let target: Int?
  }

  /// What came of a strike.
  struct Outcome {
    var didStrike = true
    var text = ""

    static func none(_ text: String) -> Outcome { Outcome(didStrike: false, text: text) }
  }

  /// Makes the control file.
  ///
  /// - Parameters:
  ///   - control: where to make it; workers are given the path.
  ///   - database: the database's path; its directory exists and nobody uses it yet.
  ///   - kinds: the faults that may come. A power cut and a full disk have to be prepared for, and cost.
  ///   - point: the only place at which a process is killed at a place.
  package init(
    control: String, database: String, processes: Int, kinds: [FaultKind] = [],
    point: FaultPoint? = nil
  ) throws {
    self.point = point
    self.control = try FaultControl(making: control, notesWrites: kinds.contains(.powerCut))
    self.database = database
    let shadow = FaultControl.shadowDirectory(of: control)
    if kinds.contains(.powerCut) {
      try? FileManager.default.removeItem(atPath: shadow)
      try FileManager.default.createDirectory(
        atPath: shadow, withIntermediateDirectories: true)
    }
    powerCut = PowerCut(database: database, control: control)
    let directory = URL(filePath: database).deletingLastPathComponent().path
    if kinds.contains(.processLimit) { ProcessGroupLimit.sweep() }
    disk = kinds.contains(.diskFull) ? MemoryDisk(over: directory) : nil
  }

  /// Brings a fault about and returns when it is over.
  ///
  /// - Parameters:
  ///   - victim: the process at the event's place, when it has one and the process runs.
  ///   - isOver: what to wait for instead of the event's duration.
  package func strike(
    _ event: FaultEvent, victim: ChildProcess?,
    until isOver: (@Sendable () async -> Void)? = nil
  ) async throws -> FaultRecord {
    let began = HistoryLog.now()
    powerCut.noteLockFile()
    let place = Place(kind: event.kind, target: event.target)
    let outcome: Outcome
    if present.contains(place) {
      outcome = .none("another one was not over yet")
    } else {
      present.insert(place)
      endings[place] = isOver
      outcome = await bringAbout(event, victim)
      present.remove(place)
      endings[place] = nil
    }
    return FaultRecord(
      event: event, began: began, ended: HistoryLog.now(), didStrike: outcome.didStrike,
      text: outcome.text)
  }

  private func bringAbout(_ event: FaultEvent, _ victim: ChildProcess?) async -> Outcome {
    switch event.kind {
    case .kill:
      // The signal 0 asks whether the process is there.
      guard let victim, victim.signal(0) else { return .none("the process was not there") }
      victim.kill()
      return Outcome(text: "process \(victim.processID)")
    case .killAtPoint: return await killAtPoint(event)
    case .pause: return await pause(event, victim)
    case .diskFull: return await fillDisk(event)
    case .ioError, .shortWrite, .failedSync, .slowDisk: return await setRule(event)
    case .inotifyLimit: return await refuseWatches(event)
    case .fileSizeLimit: return await limitFileSize(event, victim)
    case .descriptorLimit: return await limitDescriptors(event, victim)
    case .processLimit: return await limitProcesses(event, victim)
    case .inotifyOverflow: return await overflow(event, victim)
    case .lockFileTampering:
      let text = LockFileTampering.strike(lockFile, value: event.value)
      await last(event)
      LockFileTampering.end(lockFile)
      return text.map { Outcome(text: $0) } ?? .none("there was no lock file")
    case .logTampering:
      let count = fault_log_tamper(database, UInt64(event.value))
      return count > 0
        ? Outcome(text: "\(count) bytes behind the last commit") : .none("there was no log in use")
    case .clockStep: return await stepClock(event)
    case .powerCut: return .none("the power is cut by the run")
    }
  }

  /// Waits as long as the fault is to last; a cancelled run ends it at once.
  func last(_ event: FaultEvent) async {
    if let ending = endings[Place(kind: event.kind, target: event.target)] { return await ending() }
    try? await Task.sleep(for: .seconds(event.duration))
  }

  func slot(of event: FaultEvent) -> FaultControl.Slot {
    event.target.map { .place($0) } ?? .everybody
  }

  /// Puts the files into the state that a power cut now would leave, and forgets what was not synced.
  ///
  /// Call it when all processes of the run are dead.
  ///
  /// - Returns: what was lost, in words.
  package func cutPower(seed: UInt64) async throws -> String { try powerCut.strike(seed: seed) }

  /// Ends every fault, whatever its time.
  package func endAll() async { control.clearAll() }

  /// Takes away what was prepared; call it when all processes of the run are dead, before anybody looks at
  /// the database.
  package func close() async throws {
    control.clearAll()
    if isClosed { return }
    isClosed = true
    try disk?.close()
  }
}
