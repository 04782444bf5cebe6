import CommandLineSupport
import Foundation
import StressReport

/// `boutique-stress report`: draws a report that was kept.
enum ReportCommand: StressCommand {
  static let word = "report"
  static let summary = "Draws the HTML report from a JSON file of “run --json”."

  private struct Settings: Sendable {
    var html: String?
  }

  private static let syntax = CommandSyntax<Settings>(
    name: "\(StressProgram.name) \(word)", summary: summary,
    operands: [Operand("FILE", help: "What “run --json FILE” has written.")],
    options: [
      .value("html", short: "o", "FILE", help: "Where to (FILE with .html in place of .json).") {
        $0.html = $1
      }
    ])

  static func run(_ words: [String], _ environment: CommandEnvironment) async throws -> Int32 {
    let console = environment.console
    guard let (settings, operands) = try syntax.settings(words, Settings(), console) else {
      return StressStatus.clean
    }
    let report = try SavedReport.read(operands[0])
    let path =
      settings.html
      ?? (operands[0].hasSuffix(".json") ? String(operands[0].dropLast(5)) : operands[0]) + ".html"
    try ReportFile.write(ReportPage.html(report), path)
    try console.write(SummaryText.text(report, console.style) + "report: \(path)\n")
    return StressStatus.clean
  }
}

/// Writes the page.
enum ReportFile {
  /// Throws when a file could not be written there.
  static func check(_ path: String) throws(ReportFileError) {
    let directory = URL(filePath: path).deletingLastPathComponent().standardizedFileURL.path
    guard access(directory, W_OK) == 0 else {
      throw .unwritable(path, reason: String(cString: strerror(errno)))
    }
  }

  static func write(_ html: String, _ path: String) throws(ReportFileError) {
    do {
      try Data(html.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw .unwritable(path, reason: FileProblem.text(error))
    }
  }
}
