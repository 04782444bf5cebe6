import StressFaults
import StressHistory

/// The part of the page that tells of one run.
struct RunSection {
  let run: SavedRun
  /// From 1, in the order of the page.
  let number: Int

  /// What goes wrong all the time need not be drawn each time.
  private static let violationLimit = 20

  var html: String {
    var parts = ["<h2 id=\"run\(number)\">\(number). \(Markup.escaped(run.plan.workload))</h2>"]
    parts.append(Markup.element("p", "class=\"soft\"", text: plan))
    parts.append(verdict)
    parts += run.violations.prefix(Self.violationLimit).enumerated().map {
      violation($0.element, $0.offset)
    }
    if run.violations.count > Self.violationLimit {
      let rest = run.violations.count - Self.violationLimit
      parts.append(
        Markup.element(
          "p", "class=\"bad\"", text: "And \(FigureText.count(rest)) more in the file."))
    }
    parts.append(tiles)
    parts.append(
      "<div class=\"columns\"><div>\(TimeCharts.html(run))</div><div>\(rest)</div></div>")
    return "<section>\(parts.joined(separator: "\n"))</section>"
  }

  private var plan: String {
    let plan = run.plan
    var words = [
      FigureText.amount(plan.processes, "process", plural: "processes"),
      "\(Canvas.text(run.figures.seconds)) s of \(Canvas.text(plan.seconds)) s",
      "seed \(plan.seed)", "synchronous \(plan.synchronous)",
      plan.faults.isEmpty
        ? "no faults" : "faults " + plan.faults.map(\.rawValue).joined(separator: ", "),
    ]
    if let sabotage = plan.sabotage { words.append("built-in bug \(sabotage)") }
    if run.wasInterrupted { words.append("interrupted") }
    return words.joined(separator: " · ")
  }

  private var verdict: String {
    run.isClean
      ? Markup.element("p", "class=\"verdict good\"", text: "Every promise was kept.")
      : Markup.element(
        "p", "class=\"verdict bad\"",
        text: "\(FigureText.amount(run.violations.count, "violation")):")
  }

  // MARK: Violations

  private func violation(_ violation: Violation, _ index: Int) -> String {
    var parts = [
      Markup.element("h3", "class=\"bad\"", text: violation.check),
      Markup.element("p", "class=\"told\"", text: violation.text),
    ]
    if let first = violation.operations.first {
      let figure = ViolationFigure(violation, of: run)
      parts.append(
        Markup.element(
          "p", "class=\"soft\"",
          text:
            "Times from the first of them, \(FigureText.time(max(0, first.began.minus(run.began)))) "
            + "after the run's beginning. Boxes side by side overlapped in time."))
      parts.append(figure.hint)
      parts.append(
        "<div class=\"scroll\" tabindex=\"0\">\(figure.svg(number: number * 1000 + index))</div>")
      parts.append(figure.edgeList)
      let rest = violation.operations.count - ViolationFigure.limit
      if rest > 0 {
        parts.append(
          Markup.element(
            "p", "class=\"soft\"", text: "\(FigureText.amount(rest, "operation")) more in the file."
          ))
      }
      parts.append(list(violation.operations, from: first.began))
    }
    parts.append(Markup.element("pre", text: commands))
    return "<div class=\"card violation\">\(parts.joined())</div>"
  }

  /// The same as text, for reading and copying.
  private func list(_ operations: [OperationRecord], from origin: Int64) -> String {
    let lines = operations.prefix(ViolationFigure.limit).map { operation in
      let steps = operation.steps.map(OperationText.text).joined(separator: "; ")
      let error = operation.error.map { " (\($0))" } ?? ""
      return "\(run.processName(operation.process)), client \(operation.client): "
        + "\(operation.name) #\(operation.number) "
        + "\(OperationText.times(operation, from: origin)), "
        + "\(OperationText.outcome(operation))\(error): \(steps)"
    }
    return "<details><summary>as text</summary>"
      + Markup.element("pre", text: lines.joined(separator: "\n")) + "</details>"
  }

  private var commands: String {
    let again = run.plan.command
    guard let directory = run.directory else { return again }
    return "boutique-stress replay \(ShellWord.quoted(directory + "/" + SavedReport.fileName))\n"
      + again
  }

  // MARK: Figures

  private var tiles: String {
    let figures = run.figures
    var tiles: [(String, String)] = [
      ("done", FigureText.count(figures.outcomes.done)),
      ("refused", FigureText.count(figures.outcomes.refused)),
      ("unknown", FigureText.count(figures.outcomes.unknown)),
      ("in a second", FigureText.short(figures.perSecond)),
      ("median latency", FigureText.time(figures.latency.quantile(0.5))),
      ("99 % latency", FigureText.time(figures.latency.quantile(0.99))),
      ("longest", FigureText.time(figures.latency.quantile(1))),
    ]
    if figures.lockWait.count > 0 {
      tiles.append(("99 % lock wait", FigureText.time(figures.lockWait.quantile(0.99))))
    }
    if figures.refresh.count > 0 {
      tiles.append(("99 % refresh", FigureText.time(figures.refresh.quantile(0.99))))
    }
    if let log = figures.greatestLog { tiles.append(("longest log", FigureText.bytes(log))) }
    tiles.append(("faults struck", FigureText.count(figures.struck)))
    let html = tiles.map { name, value in
      "<div class=\"tile\"><b>\(Markup.escaped(value))</b><span>\(Markup.escaped(name))</span></div>"
    }
    return "<div class=\"tiles\">\(html.joined())</div>"
  }

  private var rest: String {
    let figures = run.figures
    return DistributionChart.html("Latency of operations", figures.latency)
      + DistributionChart.html("Waiting for the write lock", figures.lockWait)
      + DistributionChart.html("From commit to live query", figures.refresh)
      + FairnessChart.html(figures, placesKnown: !run.places.isEmpty)
      + kinds + troubles
  }

  private var kinds: String {
    guard !run.figures.kinds.isEmpty else { return "" }
    let rows = run.figures.kinds.map { kind in
      [
        kind.name, FigureText.count(kind.outcomes.done), FigureText.count(kind.outcomes.refused),
        FigureText.count(kind.outcomes.unknown), FigureText.time(kind.latency.median),
        FigureText.time(kind.latency.p99), FigureText.time(kind.latency.greatest),
      ]
    }
    return PageTable.card(
      "Operations by kind",
      ["operation", "done", "refused", "unknown", "median", "99 %", "longest"], rows)
  }

  private var troubles: String {
    guard !run.figures.troubles.isEmpty else { return "" }
    let shown = 20
    let rows = run.figures.troubles.prefix(shown).map { [$0.subject, FigureText.count($0.count)] }
    return PageTable.card("Trouble that the faults explain", ["what", "times"], Array(rows))
  }
}
