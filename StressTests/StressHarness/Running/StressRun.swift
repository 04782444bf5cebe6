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
  private var violations: [Violation] = []
  private var records: [FaultRecord] = []
  /// The processes that the run itself has killed.
  private var killed: Set<pid_t> = []
  private var isEnding = false
  private var isPowerOff = false
  /// When nobody was alive.
  private var cuts: [Note] = []

  /// Prepares a run in an empty directory, which is made.
  package init(_ run: RunContext) throws {
    guard let type = Workloads.named(run.plan.workload) else {
      throw StressError(text: "there is no workload \(run.plan.workload)")
    }
    self.run = run
    workload = type.init()
    for directory in [run.directory, run.directory + "/data", run.historyDirectory] {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }
    try JSONEncoder().encode(run.plan).write(to: URL(filePath: run.planFile))
    injector = try FaultInjector(
      control: run.control, database: run.database, processes: run.plan.processes)
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
    let files = (0..<starts).map(run.historyFile).filter(FileManager.default.fileExists)
    var history = try History.read(files: files)
    history.notes += cuts
    violations += history.notes.filter { $0.kind == .violation }.map {
      Violation(check: $0.subject, text: "process \($0.process): \($0.text)")
    }
    violations += try await workload.check(run, history)
    return RunResult(
      plan: run.plan, began: began, ended: ended, faults: records, violations: violations,
      history: history)
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
    for place in 0..<run.plan.processes { try await start(place, children) }
    let began = HistoryLog.now()
    for worker in workers.values { worker.send("go") }
    try await withThrowingTaskGroup { group in
      for fault in faults {
        group.addTask {
          try await Self.sleep(until: fault.time, from: began)
          try await self.strike(fault, children)
        }
      }
      let seconds = run.plan.seconds
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
    await injector.endAll()
    try await endAll()
    return began
  }

  private static func sleep(until seconds: Double, from began: Int64) async throws {
    let left = Int64(seconds * 1e9) - (HistoryLog.now() - began)
    if left > 0 { try await Task.sleep(for: .nanoseconds(left)) }
  }

  private func progress(secondsLeft: Double) -> RunProgress {
    var progress = RunProgress(secondsLeft: secondsLeft)
    progress.faults = records.count { $0.didStrike }
    progress.violations = violations.count
    return progress
  }

  // MARK: Workers

  private func start(_ place: Int, _ children: ChildProcesses) async throws {
    let number = starts
    starts += 1
    let worker = try await children.start(
      ChildCommand(
        run.program,
        WorkerProgram.arguments(
          directory: run.directory, place: place, start: number)))
    workers[place] = worker
    _ = try await worker.next("ready") { $0.text == "ready" }
    Task { await self.watch(worker, place, children) }
  }

  /// Starts another in place of a worker that has died.
  private func watch(_ worker: ChildProcess, _ place: Int, _ children: ChildProcesses) async {
    guard let status = try? await worker.exit(within: .seconds(100_000)) else { return }
    if isEnding || isPowerOff { return }
    if status != .signalled(SIGKILL) {
      violations.append(
        Violation(
          check: "ended by itself",
          text: "process at place \(place) ended with \(status): \(worker.standardError)"))
    }
    do {
      try await start(place, children)
      workers[place]?.send("go")
    } catch {
      violations.append(Violation(check: "start", text: "\(error)"))
    }
  }

  private func endAll() async throws {
    isEnding = true
    for worker in workers.values {
      worker.resume()
      worker.send("end")
    }
    for (place, worker) in workers {
      do {
        _ = try await worker.exit(within: .seconds(120))
      } catch {
        violations.append(
          Violation(check: "stuck", text: "place \(place) did not end: \(error)"))
        await worker.end()
      }
    }
  }

  // MARK: Faults

  private func strike(_ event: FaultEvent, _ children: ChildProcesses) async throws {
    if event.kind == .powerCut { return try await cutPower(event, children) }
    if isPowerOff { return }
    let victim = event.target.flatMap { workers[$0] }
    if let victim, event.kind == .kill { killed.insert(victim.processID) }
    records.append(try await injector.strike(event, victim: victim))
  }

  /// Kills everybody, loses what was not synced, and starts everybody again.
  private func cutPower(_ event: FaultEvent, _ children: ChildProcesses) async throws {
    if isPowerOff { return }
    isPowerOff = true
    defer { isPowerOff = false }
    let began = HistoryLog.now()
    for worker in workers.values { worker.kill() }
    for worker in workers.values { await worker.end() }
    cuts.append(
      Note(.trouble, process: -1, time: HistoryLog.now(), subject: Note.powerCut, text: ""))
    let text = try await injector.cutPower(seed: run.plan.seed &+ UInt64(event.value))
    for place in 0..<run.plan.processes { try await start(place, children) }
    for worker in workers.values { worker.send("go") }
    records.append(
      FaultRecord(event: event, began: began, ended: HistoryLog.now(), text: text))
  }
}

/// Why a run cannot be.
package struct StressError: Error, CustomStringConvertible {
  let text: String
  package var description: String { text }
}
