import CommandLineSupport
import StressFaults
import StressHistory
import StressReport

/// What runs came to, as tables for people.
enum SummaryText {
  /// Two tables, because one would be wider than a terminal, then the faults, then what was broken.
  static func text(_ report: SavedReport, _ style: TerminalStyle) -> String {
    guard !report.runs.isEmpty else { return "" }
    var lines = operations(report.runs).lines(style) + [""]
    lines += times(report.runs).lines(style) + [""]
    let faults = faults(report.runs)
    if !faults.isEmpty { lines += faults + [""] }
    lines.append(verdict(report, style))
    return lines.joined(separator: "\n") + "\n"
  }

  private static func operations(_ runs: [SavedRun]) -> TextTable {
    var table = TextTable(titles: [
      "run", "seed", "done", "refused", "unknown", "per second", "evenness", "faults",
      "violations",
    ])
    for run in runs {
      let figures = run.figures
      table.append([
        .text(run.plan.workload), .number(String(run.plan.seed)),
        .number(FigureText.count(figures.outcomes.done)),
        .number(FigureText.count(figures.outcomes.refused)),
        .number(FigureText.count(figures.outcomes.unknown)),
        .number(FigureText.short(figures.perSecond)),
        .number(figures.fairness.map { hundredths($0) } ?? "–"),
        .number(FigureText.count(figures.struck)),
        .number(FigureText.count(run.violations.count)),
      ])
    }
    return table
  }

  private static func times(_ runs: [SavedRun]) -> TextTable {
    var table = TextTable(titles: [
      "run", "median", "99 %", "longest", "lock wait 99 %", "longest", "refresh 99 %", "longest",
    ])
    for run in runs {
      let figures = run.figures
      table.append(
        [.text(run.plan.workload)]
          + [
            figures.latency.quantile(0.5), figures.latency.quantile(0.99),
            figures.latency.quantile(1), figures.lockWait.quantile(0.99),
            figures.lockWait.quantile(1), figures.refresh.quantile(0.99),
            figures.refresh.quantile(1),
          ].map { .number(FigureText.time($0)) })
    }
    return table
  }

  private static func faults(_ runs: [SavedRun]) -> [String] {
    let all = runs.flatMap(\.figures.faults)
    let parts = FaultKind.allCases.compactMap { kind -> String? in
      let ofKind = all.filter { $0.kind == kind }
      guard !ofKind.isEmpty else { return nil }
      let (struck, tried) = ofKind.reduce((0, 0)) { ($0.0.plus($1.struck), $0.1.plus($1.tried)) }
      return "\(kind.rawValue) \(struck)" + (tried > struck ? " (of \(tried))" : "")
    }
    return parts.isEmpty
      ? [] : [HelpLayout.wrap("faults that struck: " + parts.joined(separator: ", "), width: 100)]
  }

  private static func verdict(_ report: SavedReport, _ style: TerminalStyle) -> String {
    let operations = report.runs.reduce(0) { $0.plus($1.figures.outcomes.all) }
    let head =
      "\(FigureText.amount(operations, "operation")) in \(FigureText.amount(report.runs.count, "run")): "
    if report.violationCount == 0, report.runs.contains(where: \.wasInterrupted) {
      return head + "nothing found until it was interrupted"
    }
    return report.violationCount == 0
      ? head + style.paint("every promise was kept", .green)
      : head + style.paint(FigureText.amount(report.violationCount, "violation"), .red)
  }

  /// One violation with its least history.
  static func text(_ violation: Violation, of run: SavedRun, _ style: TerminalStyle) -> String {
    let shown = 12
    var lines = ["  " + style.paint(violation.check, .red) + ": " + violation.text]
    for operation in violation.operations.prefix(shown) {
      let steps = operation.steps.map(OperationText.text).joined(separator: "; ")
      lines.append(
        "    \(run.processName(operation.process)), \(operation.name) #\(operation.number) "
          + "\(OperationText.times(operation, from: violation.operations[0].began)), "
          + "\(OperationText.outcome(operation)): \(steps)")
    }
    if violation.operations.count > shown {
      lines.append("    and \(violation.operations.count - shown) more operations")
    }
    return lines.map { $0.visible(upToWidth: 2000) }.joined(separator: "\n") + "\n"
  }

  private static func hundredths(_ number: Double) -> String {
    let whole = Int((number * 100).rounded())
    return "\(whole / 100).\(whole % 100 < 10 ? "0" : "")\(whole % 100)"
  }
}
