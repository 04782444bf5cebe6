/// The report of runs as one HTML page that needs nothing from outside.
package enum ReportPage {
  /// Draws the page.
  package static func html(_ results: [RunResult]) -> String { "" }
}
