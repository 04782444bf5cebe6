import BoutiqueDB
import FaultPoints
import Foundation
import ProcessHarness
import StressFaults
import StressHistory
package import StressReport

/// How far a run has come.
package struct RunProgress: Sendable {
  /// Operations that have ended, as far as the histories' files have been read.
  package var operations = 0
  package var faults = 0
  package var violations = 0
  /// Until the work ends; negative while what is left is checked.
  package var secondsLeft: Double

  init(secondsLeft: Double) { self.secondsLeft = secondsLeft }
}

/// Runs one plan: starts the workers, disturbs them, ends them, and checks what is left.
package actor StressRun {
  private let run: RunContext
  private let workload: any Workload
  private let injector: FaultInjector
  /// The running workers by place.
  private var workers: [Int: ChildProcess] = [:]
  private var starts = 0
  /// The place of each start.
  private var places: [Int] = []
  private var violations: [Violation] = []
  private var records: [FaultRecord] = []
  /// The places whose work is done before the time.
  private var finished: Set<Int> = []
  /// Waits for the time to pass.
  private var disturbing: Task<Void, any Error>?
  private var isInterrupted = false
  private var isEnding = false
  private var isPowerOff = false
  /// Why the run shows nothing: a history could not be written.
  private var voidReason: String?
  /// How often the power was cut: a start that one overtakes is void.
  private var cuts = 0
  private var tail = HistoryTail()

  /// Prepares a run in an empty directory, which is made.
  package init(_ run: RunContext) throws {
    guard let type = Workloads.named(run.plan.workload) else {
      throw StressError(text: "there is no workload \(run.plan.workload)")
    }
    if let fault = run.plan.fault { throw StressError(text: fault) }
    self.run = run
    workload = type.init()
    for directory in [run.directory, run.directory + "/data", run.historyDirectory] {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }
    try JSONEncoder().encode(run.plan).write(to: URL(filePath: run.planFile))
    injector = try FaultInjector(
      control: run.control, database: run.database, processes: run.plan.processes,
      kinds: run.plan.faults, point: run.plan.point.flatMap(FaultPoint.init))
  }

  /// Runs it.
  ///
  /// - Parameter progress: is told about once a second.
  package func result(
    progress: @escaping @Sendable (RunProgress) -> Void = { _ in }
  ) async throws -> RunResult {
    try await workload.prepare(run)
    let faults = FaultPlan.faults(
      of: run.plan.faults, seconds: run.plan.seconds, processes: run.plan.processes,
      seed: run.plan.seed)
    let began = try await withWorkers(faults, progress)
    let ended = HistoryLog.now()
    if let voidReason { throw VoidRun(reason: voidReason) }
    let history = RecordedRun.judged(try readHistory(), by: records)
    var endedRun = run
    endedRun.faults = records
    violations += try await RecordedRun.judge(endedRun, history)
    if !isInterrupted, !history.operations.contains(where: { $0.outcome == .done }) {
      violations.append(
        Violation(check: "void", text: "no operation was done, so nothing has been tried"))
    }
    return RunResult(
      plan: run.plan, began: began, ended: ended, faults: records, violations: violations,
      history: history, places: places)
  }

  private func readHistory() throws(VoidRun) -> History {
    let files = (0..<starts).map(run.historyFile).filter(FileManager.default.fileExists)
    do {
      return try History.read(files: files)
    } catch {
      throw VoidRun(
        reason: "the history in \(run.historyDirectory) cannot be read: \(FileProblem.text(error))")
    }
  }

  private nonisolated func withWorkers(
    _ faults: [FaultEvent], _ progress: @escaping @Sendable (RunProgress) -> Void
  ) async throws -> Int64 {
    try await withChildProcesses { try await self.work(faults, $0, progress) }
  }

  private func work(
    _ faults: [FaultEvent], _ children: ChildProcesses,
    _ progress: @escaping @Sendable (RunProgress) -> Void
  ) async throws -> Int64 {
    do {
      for place in 0..<run.plan.processes {
        do {
          try await start(place, children)
        } catch {
          noteLostHistory(error)
          throw voidReason.map { VoidRun(reason: $0) } ?? error
        }
      }
      let began = HistoryLog.now()
      for worker in workers.values { worker.send("go") }
      let disturbing = Task { try await self.disturb(faults, children, from: began, progress) }
      self.disturbing = disturbing
      if isInterrupted || voidReason != nil || finished.count == run.plan.processes {
        disturbing.cancel()
      }
      do {
        try await disturbing.value
      } catch is CancellationError {
        // Interrupted, or all workers have ended their work before the time.
      }
      await injector.endAll()
      try await endAll()
      try await injector.close()
      return began
    } catch {
      // Limits of the machine must not outlive the run.
      await injector.endAll()
      throw error
    }
  }

  /// Strikes every fault at its time, and returns when the time is over.
  private func disturb(
    _ faults: [FaultEvent], _ children: ChildProcesses, from began: Int64,
    _ progress: @escaping @Sendable (RunProgress) -> Void
  ) async throws {
    let seconds = run.plan.seconds
    try await withThrowingTaskGroup { group in
      for fault in faults {
        group.addTask {
          try await Self.sleep(until: fault.time, from: began)
          try await self.strike(fault, children)
        }
      }
      group.addTask {
        while true {
          let left = seconds - Double(HistoryLog.now() - began) / 1e9
          if left <= 0 { break }
          progress(await self.progress(secondsLeft: left))
          try await Task.sleep(for: .seconds(min(1, left)))
        }
      }
      try await group.waitForAll()
    }
  }

  /// Ends the work before its time; what was done until then is checked.
  package func interrupt() {
    isInterrupted = true
    disturbing?.cancel()
  }

  private static func sleep(until seconds: Double, from began: Int64) async throws {
    let left = Int64(seconds * 1e9) - (HistoryLog.now() - began)
    if left > 0 { try await Task.sleep(for: .nanoseconds(left)) }
  }

  private func progress(secondsLeft: Double) -> RunProgress {
    tail.look(at: (0..<starts).map(run.historyFile))
    var progress = RunProgress(secondsLeft: secondsLeft)
    progress.operations = tail.ended
    progress.faults = records.count { $0.didStrike }
    progress.violations = violations.count + tail.violations
    return progress
  }

  // MARK: Workers

  private func start(_ place: Int, _ children: ChildProcesses) async throws {
    let number = starts
    let cutsBefore = cuts
    starts += 1
    places.append(place)
    let worker = try await children.start(
      ChildCommand(
        run.program,
        WorkerProgram.arguments(
          directory: run.directory, place: place, start: number)))
    guard cutsBefore == cuts else {
      await worker.end()
      throw CancellationError()
    }
    workers[place] = worker
    _ = try await worker.next("ready") { $0.text == "ready" }
    Task { await self.watch(worker, place, children) }
  }

  /// Starts another in place of a worker that has died.
  private func watch(_ worker: ChildProcess, _ place: Int, _ children: ChildProcesses) async {
    guard let status = try? await worker.exit(within: .seconds(1_000_000)) else { return }
    // After a power cut another has its place already.
    if isEnding || isPowerOff || workers[place] !== worker { return }
    switch status {
    case .exited(0):
      finished.insert(place)
      if finished.count == run.plan.processes { disturbing?.cancel() }
      return
    case .signalled(SIGKILL): break
    case .exited(WorkerProgram.historyLost):
      makeVoid(worker.standardError)
      return
    default:
      violations.append(
        Violation(
          check: "ended by itself",
          text: "the process at place \(place) \(status): \(worker.standardError)"))
    }
    while true {
      do {
        try await start(place, children)
        workers[place]?.send("go")
        return
      } catch {
        // While the power is off, nobody gets as far as its first word.
        if isEnding || isPowerOff || error is CancellationError { return }
        // A kill may strike a process before its first word, too.
        if (error as? ChildFailure)?.reason == .ended(.signalled(SIGKILL)) { continue }
        if noteLostHistory(error) { return }
        violations.append(
          Violation(check: "start", text: "no process at place \(place) any more: \(error)"))
        return
      }
    }
  }

  /// Makes the run void if a process could not start because of its history; returns whether it is so.
  @discardableResult
  private func noteLostHistory(_ error: any Error) -> Bool {
    guard let failure = error as? ChildFailure,
      failure.reason == .ended(.exited(WorkerProgram.historyLost))
    else { return false }
    makeVoid(failure.standardError)
    return true
  }

  /// Ends the work: nothing that is found from here on could be told from what is missing in the history.
  private func makeVoid(_ told: String) {
    let told = told.trimmingCharacters(in: .whitespacesAndNewlines)
    voidReason = voidReason ?? (told.isEmpty ? "a process could not write its history" : told)
    disturbing?.cancel()
  }

  private func endAll() async throws {
    isEnding = true
    for worker in workers.values {
      worker.resume()
      worker.send("end")
    }
    for (place, worker) in workers {
      do {
        let status = try await worker.exit(within: .seconds(120))
        if status == .exited(WorkerProgram.historyLost) { makeVoid(worker.standardError) }
      } catch {
        let locks = await StuckProcess.locks(of: run)
        violations.append(
          Violation(check: "stuck", text: "place \(place) did not end: \(error)\n\(locks)"))
        await worker.end()
      }
    }
  }

  // MARK: Faults

  private func strike(_ event: FaultEvent, _ children: ChildProcesses) async throws {
    if event.kind == .powerCut { return try await cutPower(event, children) }
    if isPowerOff { return }
    let victim = event.target.flatMap { workers[$0] }
    records.append(try await injector.strike(event, victim: victim))
  }

  /// Kills everybody, loses what was not synced, and starts everybody again.
  private func cutPower(_ event: FaultEvent, _ children: ChildProcesses) async throws {
    if isPowerOff { return }
    isPowerOff = true
    cuts += 1
    defer { isPowerOff = false }
    let began = HistoryLog.now()
    for worker in workers.values { worker.kill() }
    for worker in workers.values { await worker.end() }
    let text = try await injector.cutPower(seed: run.plan.seed &+ UInt64(event.value))
    for place in 0..<run.plan.processes { try await start(place, children) }
    for worker in workers.values { worker.send("go") }
    records.append(
      FaultRecord(event: event, began: began, ended: HistoryLog.now(), text: text))
  }
}

extension RunPlan {
  /// Why the plan cannot be run; plans come from files, too.
  var fault: String? {
    if !(1...64).contains(processes) { return "a run has 1 to 64 processes, not \(processes)" }
    if !(seconds > 0 && seconds <= 604_800) {
      return "a run takes more than 0 and at most a week (604800 s), not \(seconds)"
    }
    if BoutiqueConfiguration.Synchronous(rawValue: synchronous) == nil {
      return "there is no way of synchronizing called \(synchronous)"
    }
    if let sabotage, Sabotage(rawValue: sabotage) == nil {
      return "there is no sabotage called \(sabotage)"
    }
    if let point, FaultPoint(rawValue: point) == nil {
      return "there is no named place called \(point)"
    }
    return nil
  }
}

/// Why a run cannot be.
package struct StressError: Error, CustomStringConvertible {
  let text: String
  package var description: String { text }
}
