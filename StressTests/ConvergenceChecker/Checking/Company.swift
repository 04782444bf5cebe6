import Foundation
import ProcessHarness

/// The processes of a run.
actor Company {
  private let scenario: Scenario
  private let place: RunPlace
  private let children: ChildProcesses
  private let record: Record
  private var running: [String: ChildProcess] = [:]
  /// Processes that we have killed ourselves, by process id.
  private var killed: Set<pid_t> = []
  /// Who waits for the end of a process's work.
  private var working: [pid_t: CheckedContinuation<WorkOutcome, Never>] = [:]
  /// Processes from which nothing will be heard any more.
  private var deaf: Set<pid_t> = []

  init(scenario: Scenario, place: RunPlace, children: ChildProcesses, record: Record) {
    self.scenario = scenario
    self.place = place
    self.children = children
    self.record = record
  }

  /// Returns a process's child, started if it is not running.
  func child(_ plan: ProcessPlan) async throws -> ChildProcess {
    if let child = running[plan.name] { return child }
    let command: ChildCommand
    if plan.role == .python {
      let settings = String(decoding: try JSONEncoder().encode(plan.settings), as: UTF8.self)
      command = ChildCommand(
        "python3", ["-c", ForeignPrograms.writer, place.database, plan.name, settings])
    } else {
      command = ChildCommand(
        place.program,
        WorkerProgram.arguments(name: plan.name, script: place.script, database: place.database))
    }
    let child = try await children.start(command)
    running[plan.name] = child
    do {
      _ = try await child.next("its readiness", within: .seconds(180)) {
        $0.text.hasPrefix("E ") && $0.text.contains("\"ready\"")
      }
    } catch {
      forget(plan.name, child)
      guard killed.contains(child.processID) else { throw error }
      return try await self.child(plan)
    }
    let record = record
    Task {
      while let line = try? await child.next(
        "an event", within: .seconds(86_400), where: { !$0.text.hasPrefix("S ") })
      {
        await self.take(line.text, from: plan.name, child)
      }
      working.removeValue(forKey: child.processID)?.resume(returning: .ended)
      deaf.insert(child.processID)
      if !killed.contains(child.processID) {
        await record.add(
          .error, plan.name, "ended by itself: \(child.failure(.refused("to stay"), "staying"))")
      }
    }
    return child
  }

  private func take(_ line: String, from process: String, _ child: ChildProcess) async {
    guard let event = try? Wire.value(Event.self, of: line) else {
      return await record.add(.error, process, "said something that is no event: \(line)")
    }
    await record.take(event, from: process)
    if event.kind == .done {
      working.removeValue(forKey: child.processID)?.resume(returning: .done)
    }
  }

  /// How work has ended.
  enum WorkOutcome {
    case done
    /// The process is gone; everything it said has been heard.
    case ended
    case stuck
  }

  /// Gives a process work and waits for its end.
  func work(_ command: Command, on child: ChildProcess) async throws -> WorkOutcome {
    if deaf.contains(child.processID) { return .ended }
    try send(command, to: child)
    let bound = Task {
      try await Task.sleep(for: .seconds(240))
      working.removeValue(forKey: child.processID)?.resume(returning: .stuck)
    }
    defer { bound.cancel() }
    return await withCheckedContinuation { working[child.processID] = $0 }
  }

  func isKilled(_ child: ChildProcess) -> Bool { killed.contains(child.processID) }

  func forget(_ name: String, _ child: ChildProcess) {
    if running[name] === child { running[name] = nil }
  }

  /// Kills a process; an observer is started again at once, a writer when it gets its next work.
  func kill(_ plan: ProcessPlan) async throws {
    guard let child = running[plan.name] else { return }
    killed.insert(child.processID)
    child.kill()
    await child.end()
    await record.noteKill()
    forget(plan.name, child)
    if plan.role == .observer { _ = try await self.child(plan) }
  }

  /// Lets a process stand still.
  func stop(_ plan: ProcessPlan, for duration: Duration) async throws {
    guard let child = running[plan.name] else { return }
    await child.stop()
    try await Task.sleep(for: duration)
    child.resume()
  }

  func send(_ command: Command, to child: ChildProcess) throws {
    child.send(String(decoding: try JSONEncoder().encode(command), as: UTF8.self))
  }

  /// Asks an observer what it has.
  func ask(_ kind: Command.Kind, _ plan: ProcessPlan) async throws -> ObserverState {
    let child = try await child(plan)
    try send(Command(kind: kind), to: child)
    let line = try await child.next("its state", within: .seconds(120)) {
      $0.text.hasPrefix("S ")
    }
    return try Wire.value(ObserverState.self, of: line.text)
  }

  func reopen(_ plan: ProcessPlan) async throws {
    try send(Command(kind: .reopen), to: try await child(plan))
  }

  /// Lets everybody close the database and end.
  func endAll() async throws {
    for (name, child) in running {
      try send(Command(kind: .end), to: child)
      // Its end is no surprise from now on.
      killed.insert(child.processID)
      do {
        let status = try await child.exit(within: .seconds(120))
        if status != .exited(0) { await record.add(.error, name, "\(status) at the end") }
      } catch {
        await record.add(.stuck, name, "did not end: \(error)")
      }
    }
    running = [:]
  }

  /// Runs a program that answers in one line.
  func answer(of program: String, input: String) async throws -> String {
    let child = try await children.start(
      ChildCommand("python3", ["-c", program, place.database]))
    child.send(input)
    child.closeInput()
    let line = try await child.next("its answer", within: .seconds(180)) {
      $0.text.hasPrefix("S ")
    }
    try await child.exit()
    return line.text
  }

  /// Runs the shell with an input; returns whether it left without an error.
  func shell(_ input: String) async throws -> Bool {
    let child = try await children.start(ChildCommand("sqlite3", ["-bail", place.database]))
    child.send(input)
    child.closeInput()
    return try await child.exit(within: .seconds(180)) == .exited(0)
  }

  /// Makes the file and its schema.
  func makeDatabase() async throws {
    if scenario.isMadeByForeigner {
      let statements = try JSONEncoder().encode(scenario.schema.map(\.sql))
      _ = try await answer(
        of: ForeignPrograms.maker, input: String(decoding: statements, as: UTF8.self))
    } else {
      let child = try await children.start(
        ChildCommand(
          place.program,
          WorkerProgram.arguments(
            name: WorkerProgram.maker, script: place.script, database: place.database)))
      let status = try await child.exit(within: .seconds(180))
      if status != .exited(0) {
        throw child.failure(.ended(status), "the schema")
      }
    }
  }
}
