import CommandLineSupport
import Foundation
import Glibc

/// `boutique-bench growth`: how figures change when there is ten times as much of something.
enum GrowthCommand {
  struct Settings: Sendable {
    var common = CommonSettings()
    var svg: String?
    var isQuick = false
  }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) growth",
    summary:
      "How costs grow with rows, live queries, items and processes, as a table and a drawing.",
    operands: [],
    options: [
      .value("svg", "FILE", help: "Draw it, too, as an SVG file that needs nothing from outside.") {
        settings, text in settings.svg = text
      },
      .flag("quick", short: "q", help: "Small sizes, to see that it works.") { $0.isQuick = true },
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Every figure is measured at each size with the benchmark that has it. “growth” is the last size's \
      figure divided by the first one's: what is paid for each row and stays the same has 1.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) growth --svg docs/growth.svg"])

  /// One subject at all its sizes.
  struct Measured: Encodable {
    let title: String
    let axis: String
    let unit: String
    let sizes: [Int]
    let lines: [Line]

    struct Line: Encodable {
      let name: String
      /// A figure for each size.
      let values: [Double]

      /// The last divided by the first.
      var growth: Double {
        guard let first = values.first, let last = values.last, first > 0 else { return 0 }
        return last / first
      }
    }
  }

  struct Report: Encodable {
    let benchmark = "growth"
    let machine: MachineFacts
    let seed: UInt64
    let isComparable: Bool
    let results: [Measured]

    private enum CodingKeys: String, CodingKey {
      case benchmark, machine, seed, isComparable, results
    }
  }

  static func run(_ settings: Settings, _ output: BenchOutput) throws {
    var common = settings.common
    if settings.isQuick { common.rounds = 1 }
    let run = try BenchRun(common, output)
    defer { run.keeper.clear() }
    let machine = MachineFacts.collect(directory: run.directory)
    if !common.isJSON {
      try output.write(machine.lines.map { $0 + "\n" }.joined() + "seed \(run.seed)\n")
    }
    // Two subjects may look at one measurement.
    var done: [[String]: Any] = [:]
    var all: [Measured] = []
    for subject in GrowthSubject.all {
      let measured = try measure(subject, isQuick: settings.isQuick, run, &done)
      all.append(measured)
      if !common.isJSON { try output.write(title: measured.title, report(measured)) }
    }
    if let path = settings.svg { try write(GrowthDrawing(all, machine).svg, path) }
    if common.isJSON {
      try output.write(
        json: Report(
          machine: machine, seed: run.seed, isComparable: !settings.isQuick, results: all))
    }
  }

  private static func measure(
    _ subject: GrowthSubject, isQuick: Bool, _ run: BenchRun, _ done: inout [[String]: Any]
  ) throws -> Measured {
    guard let entry = BenchmarkList.named(subject.benchmark) else {
      throw BenchFailure("there is no benchmark \(subject.benchmark)")
    }
    let sizes = isQuick ? subject.quickSizes : subject.sizes
    var values: [[Double]] = Array(repeating: [], count: subject.series.count)
    for size in sizes {
      let words = subject.words(size)
      let key = [subject.benchmark] + words
      let results: Any
      if let found = done[key] {
        results = found
      } else {
        let part = BenchRun(partOf: run, named: "\(subject.title), \(size) \(subject.axis)")
        let measured = try entry.measure(words, part)
        results = try JSONSerialization.jsonObject(
          with: JSONEncoder().encode(AnyResults(value: measured.report.results)))
        done[key] = results
      }
      for (index, series) in subject.series.enumerated() {
        guard let value = series.value(in: results) else {
          throw BenchFailure("\(subject.benchmark) has no figure for “\(series.name)”")
        }
        values[index].append(series.scale(value, size))
      }
    }
    return Measured(
      title: subject.title, axis: subject.axis, unit: subject.unit, sizes: sizes,
      lines: zip(subject.series, values).map { Measured.Line(name: $0.name, values: $1) })
  }

  /// Results whose type is not known.
  private struct AnyResults: Encodable {
    let value: any Encodable

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private static func report(_ measured: Measured) -> BenchReport {
    var table = TextTable(
      titles: ["\(measured.unit), \(measured.axis):"]
        + measured.sizes.map { ProgressMeter.grouped(Int64($0)) } + ["growth"])
    for line in measured.lines {
      table.append(
        [.text(line.name)] + line.values.map { Figure.decimal($0, digits: $0 < 100 ? 2 : 0) }
          + [Figure.decimal(line.growth)])
    }
    return BenchReport(tables: [(measured.title, table)], results: measured.sizes)
  }

  private static func write(_ text: String, _ path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchFailure("\(path): \(SystemMessage.text(errno))") }
    close(file)
    do {
      try Data(text.utf8).write(to: URL(filePath: path))
    } catch {
      throw BenchFailure("\(path) cannot be written")
    }
  }
}
