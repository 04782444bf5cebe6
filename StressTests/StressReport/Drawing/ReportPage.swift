import StressFaults
import StressHistory

/// The report of runs as one HTML page that needs nothing from outside.
package enum ReportPage {
  /// Draws the page.
  ///
  /// Takes time for the figures that are kept, not for the operations that were done.
  package static func html(_ report: SavedReport) -> String {
    let sections = report.runs.enumerated().map {
      RunSection(run: $0.element, number: $0.offset + 1)
    }
    let body = [
      Markup.element("h1", text: "boutique-stress"),
      Markup.element("p", "class=\"soft\"", text: "\(report.date) · \(report.machine.text)"),
      verdict(report), overview(report), faults(report),
    ]
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <title>boutique-stress \(Markup.escaped(report.date))</title>
      <style>
      \(PageStyle.css)
      </style>
      </head>
      <body>
      \((body + sections.map(\.html)).joined(separator: "\n"))
      </body>
      </html>

      """
  }

  private static func verdict(_ report: SavedReport) -> String {
    let operations = report.runs.reduce(0) { $0.plus($1.figures.outcomes.all) }
    let struck = report.runs.reduce(0) { $0.plus($1.figures.struck) }
    let work =
      "\(FigureText.amount(report.runs.count, "run")), \(FigureText.amount(operations, "operation")), "
      + "\(FigureText.amount(struck, "fault")) that struck"
    let verdict =
      report.violationCount == 0
      ? "every promise was kept." : "\(FigureText.amount(report.violationCount, "violation"))."
    return Markup.element(
      "p", "class=\"verdict \(report.violationCount == 0 ? "good" : "bad")\"",
      text: "\(work): \(verdict)")
  }

  private static func overview(_ report: SavedReport) -> String {
    guard report.runs.count > 1 else { return "" }
    let rows = report.runs.enumerated().map { index, run in
      let figures = run.figures
      let count = run.violations.count
      return [
        "<a href=\"#run\(index + 1)\">\(Markup.escaped(run.plan.workload))</a>",
        count == 0 ? "0" : "<b class=\"bad\">\(count)</b>",
      ]
        + [
          FigureText.count(figures.outcomes.done), FigureText.count(figures.outcomes.refused),
          FigureText.count(figures.outcomes.unknown), FigureText.short(figures.perSecond),
          FigureText.time(figures.latency.quantile(0.5)),
          FigureText.time(figures.latency.quantile(0.99)),
          FigureText.time(figures.latency.quantile(1)), FigureText.count(figures.struck),
          String(run.plan.seed),
        ].map(Markup.escaped)
    }
    let titles = [
      "workload", "violations", "done", "refused", "unknown", "/s", "median", "99 %", "longest",
      "faults", "seed",
    ]
    return "<div class=\"card\">" + Markup.element("h3", text: "Runs")
      + PageTable.table(titles, rows) + "</div>"
  }

  private static func faults(_ report: SavedReport) -> String {
    let all = report.runs.flatMap(\.figures.faults)
    guard report.runs.count > 1, !all.isEmpty else { return "" }
    let rows = FaultKind.allCases.compactMap { kind -> [String]? in
      let ofKind = all.filter { $0.kind == kind }
      guard !ofKind.isEmpty else { return nil }
      return [
        kind.rawValue, FigureText.count(ofKind.reduce(0) { $0.plus($1.struck) }),
        FigureText.count(ofKind.reduce(0) { $0.plus($1.tried) }),
      ]
    }
    return PageTable.card("Faults by kind", ["fault", "struck", "tried"], rows)
  }
}
