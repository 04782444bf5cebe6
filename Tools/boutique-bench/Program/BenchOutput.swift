import CommandLineSupport
import Foundation
import Glibc

/// Where a subcommand's report goes and how it may look.
struct BenchOutput: Sendable {
  private let output = TextOutput(fileDescriptor: STDOUT_FILENO)
  private let errors = TextOutput(fileDescriptor: STDERR_FILENO)
  private let style: TerminalStyle
  private let showsProgress = isatty(STDERR_FILENO) == 1

  init() {
    style = .detect(
      fileDescriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
  }

  var helpWidth: Int { min(style.columns ?? 80, 100) }

  /// Writes text for standard output at once.
  func write(_ text: String) throws {
    try output.write(text)
    try output.flush()
  }

  /// Writes a report.
  func write(
    name: String, machine: MachineFacts, settings: some Encodable, seed: UInt64,
    _ report: BenchReport, asJSON: Bool
  ) throws {
    if showsProgress { complain("\r\u{1B}[K") }
    guard !asJSON else {
      return try write(
        json: WholeReport(
          benchmark: name, machine: machine, settings: settings, seed: seed, notes: report.notes,
          results: report.results))
    }
    try write((["seed \(seed)"] + lines(report)).joined(separator: "\n") + "\n")
  }

  /// Writes one report of several, under its name.
  func write(title: String, _ report: BenchReport) throws {
    if showsProgress { complain("\r\u{1B}[K") }
    let heading = style.paint("== \(title)", .bold)
    try write((["", heading] + lines(report)).joined(separator: "\n") + "\n")
  }

  /// Writes an object for programs.
  func write(json: some Encodable) throws {
    if showsProgress { complain("\r\u{1B}[K") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try write(String(decoding: try encoder.encode(json), as: UTF8.self) + "\n")
  }

  private func lines(_ report: BenchReport) -> [String] {
    report.notes
      + report.tables.flatMap { ["", style.paint($0.title, .bold)] + $0.table.lines(style) }
  }

  /// Shows a line that the next one replaces.
  func progress(_ text: String) {
    if showsProgress { complain("\r\u{1B}[K\(text)") }
  }

  /// Writes to standard error at once.
  ///
  /// What cannot even be said there is given up.
  func complain(_ text: String) {
    try? errors.write(text)
    try? errors.flush()
  }
}

/// The JSON object of a run.
private struct WholeReport: Encodable {
  let benchmark: String
  let machine: MachineFacts
  let settings: any Encodable
  let seed: UInt64
  let notes: [String]
  let results: any Encodable

  private enum Key: String, CodingKey {
    case benchmark
    case machine
    case settings
    case seed
    case notes
    case results
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(benchmark, forKey: .benchmark)
    try container.encode(machine, forKey: .machine)
    try settings.encode(to: container.superEncoder(forKey: .settings))
    try container.encode(seed, forKey: .seed)
    try container.encode(notes, forKey: .notes)
    try results.encode(to: container.superEncoder(forKey: .results))
  }
}
