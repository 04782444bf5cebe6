import CommandLineSupport
import Foundation
import Glibc
import StressFaults
import StressHarness
import StressHistory
import StressReport

/// Runs plans one after the other, tells how it goes, and writes down what came of it.
struct RunSession {
  private let output: OutputSettings
  private let console: Console
  private let program: String
  private let base: String
  private let interruption: Interruption
  private let began = Date()

  init(_ output: OutputSettings, _ environment: CommandEnvironment) {
    self.output = output
    console = environment.console
    program = environment.program
    base =
      output.keep
      ?? FileManager.default.temporaryDirectory.path
      + "/boutique-stress-\(UUID().uuidString.lowercased())"
    interruption = Interruption(environment.console)
  }

  /// Runs all plans, each whatever came of those before, and returns the program's exit status.
  func run(_ plans: [RunPlan]) async throws -> Int32 {
    // Before hours are spent on what cannot be written.
    for path in [output.json, output.html].compactMap(\.self) { try ReportFile.check(path) }
    var runs: [SavedRun] = []
    var failures = 0
    var voids = 0
    for (index, plan) in plans.enumerated() where interruption.signal == nil {
      do {
        runs.append(try await self.run(plan, index, of: plans.count))
      } catch let error as VoidRun {
        voids += 1
        console.complain("\(plan.workload): \(error)")
      } catch {
        failures += 1
        console.complain("\(plan.workload) could not be run: \(FileProblem.textWithPath(error))")
        console.tell("  again: \(plan.command)\n")
      }
    }
    removeIfEmpty(base)
    let report = SavedReport(date: began, machine: .ofThisMachine(), runs: runs)
    if let json = output.json { try report.write(json) }
    if let html = output.html { try ReportFile.write(ReportPage.html(report), html) }
    try console.say(SummaryText.text(report, console.style))
    return status(report, failures: failures, voids: voids)
  }

  /// Runs a plan again and again until one of the checks fails, and returns the try, from 1, with the run.
  ///
  /// - Parameter tries: how often at most.
  func run(
    _ plan: RunPlan, tries: Int, until isFound: (SavedRun) -> Bool
  ) async throws -> (attempt: Int, run: SavedRun)? {
    for attempt in 1...max(1, tries) where interruption.signal == nil {
      let run = try await self.run(plan, attempt - 1, of: tries)
      if isFound(run) { return (attempt, run) }
    }
    removeIfEmpty(base)
    return nil
  }

  /// The status of a program that was interrupted; nothing when it was not.
  var interruptedStatus: Int32? { interruption.signal.map { 128 + $0 } }

  private func status(_ report: SavedReport, failures: Int, voids: Int) -> Int32 {
    if report.violationCount > 0 { return StressStatus.violated }
    if failures > 0 { return StressStatus.failed }
    if voids > 0 { return StressStatus.void }
    return interruptedStatus ?? StressStatus.clean
  }

  // MARK: One run

  private func run(_ plan: RunPlan, _ index: Int, of count: Int) async throws -> SavedRun {
    let directory = try freshDirectory(index, plan)
    let run = try StressRun(RunContext(plan: plan, directory: directory, program: program))
    await interruption.begin(run)
    let position = count > 1 ? " (\(index + 1) of \(count))" : ""
    let display = ProgressDisplay(plan.workload + position, console)
    defer { display.clear() }
    let result: RunResult
    do {
      result = try await run.result { display.show($0) }
    } catch {
      display.clear()
      console.tell("  left behind: \(directory)\n")
      throw error
    }
    display.clear()
    let isKept = output.keep != nil || !result.violations.isEmpty
    let saved = SavedRun(
      result, directory: isKept ? directory : nil, wasInterrupted: interruption.signal != nil)
    if isKept {
      try keep(saved, directory)
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
    try tell(saved, position)
    return saved
  }

  /// An empty place for a run; what an earlier call has kept stays.
  private func freshDirectory(_ index: Int, _ plan: RunPlan) throws -> String {
    try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
    let root = URL(filePath: base).resolvingSymlinksInPath().path(percentEncoded: false)
    let stem =
      (root.hasSuffix("/") ? root : root + "/") + "\(index + 1)-\(plan.workload)-\(plan.seed)"
    var directory = stem
    var number = 2
    while FileManager.default.fileExists(atPath: directory) {
      directory = "\(stem)-\(number)"
      number += 1
    }
    return directory
  }

  private func keep(_ run: SavedRun, _ directory: String) throws {
    let report = SavedReport(date: began, machine: .ofThisMachine(), runs: [run])
    try report.write(directory + "/" + SavedReport.fileName)
    try ReportFile.write(ReportPage.html(report), directory + "/report.html")
  }

  private func tell(_ run: SavedRun, _ position: String) throws {
    let figures = run.figures
    let verdict =
      run.isClean
      ? (run.wasInterrupted ? "nothing found until it was interrupted" : "kept")
      : console.style.paint(FigureText.amount(run.violations.count, "violation"), .red)
    let faults =
      figures.struck == 0
      ? "no faults"
      : "\(FigureText.amount(figures.struck, "fault")) "
        + "(\(figures.struckKinds.map(\.rawValue).joined(separator: ", ")))"
    var text =
      "\(run.plan.workload)\(position) seed \(run.plan.seed): \(verdict); "
      + "\(FigureText.amount(figures.outcomes.all, "operation")) in \(seconds(figures.seconds)), "
      + "\(faults)\n"
    let shown = 5
    for violation in run.violations.prefix(shown) {
      text += SummaryText.text(violation, of: run, console.style)
    }
    if run.violations.count > shown { text += "  and \(run.violations.count - shown) more\n" }
    if !run.isClean, let directory = run.directory {
      let file = ShellWord.quoted(directory + "/" + SavedReport.fileName)
      text += "  kept:  \(directory)\n  again: \(StressProgram.name) replay \(file)\n"
      text += "  again: \(run.plan.command)\n"
    }
    try console.say(text)
  }

  private func seconds(_ seconds: Double) -> String { FigureText.time(Int64(seconds * 1e9)) }

  /// Removes a directory that nothing was kept in.
  private func removeIfEmpty(_ directory: String) {
    guard output.keep == nil else { return }
    // rmdir(2) and not the removal of a tree.
    _ = rmdir(directory)
  }
}
