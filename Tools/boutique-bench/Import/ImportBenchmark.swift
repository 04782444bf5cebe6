import CommandLineSupport
import Foundation
import Glibc

/// `boutique-bench import`: a CSV file into a table, beside the sqlite3 shell doing the same.
enum ImportBenchmark: Benchmark {
  struct Settings: Sendable, Codable {
    var common = CommonSettings()
    var rows = 1_000_000
  }

  /// Where the rows go.
  enum Target: String, CaseIterable, Codable, Sendable {
    case existing = "a table with types"
    case new = "a new table"
  }

  /// One target; each list has a number for each round.
  struct Result: Codable, Sendable {
    let target: Target
    var shellNanoseconds: [Double] = []
    var libraryNanoseconds: [Double] = []
    /// `boutique import`'s time divided by the shell's of the same round.
    var ratio: [Double] = []
    /// The same of the processor time.
    var processorRatio: [Double] = []
  }

  static var initialSettings: Settings { Settings() }

  static let syntax = CommandSyntax<Settings>(
    name: "\(Program.name) import",
    summary: "A CSV file into a table, beside the sqlite3 shell's .import.",
    operands: [],
    options: [
      .value("rows", "N", help: "How many rows the file has; 1000000 if not given.") {
        (settings, text) throws(InvalidValue) in
        settings.rows = try OptionValue.positiveInteger(text)
      }
    ] + CommonSettings.options { settings, change in change(&settings.common) },
    notes: [
      """
      Needs the program sqlite3, and boutique beside this one. Both read the same file of five columns, one \
      text in ten of it in quotes, into a database in WAL mode with synchronous = normal. For a new table \
      boutique finds the columns' types first; the shell makes all of them texts. The rows are compared \
      afterwards.
      """, CommonSettings.note,
    ], examples: ["\(Program.name) import --rows=100000 --rounds=5"])

  static func common(_ settings: Settings) -> CommonSettings { settings.common }

  private static let columns = "id, name, note, price, count"
  private static let table =
    "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, "
    + "price REAL NOT NULL, count INTEGER NOT NULL)"

  static func run(_ settings: Settings, _ run: BenchRun) throws -> BenchReport {
    let boutique = try sibling("boutique")
    let file = "\(run.directory)/items.csv"
    try write(settings.rows, to: file)
    var results = Target.allCases.map { Result(target: $0) }
    for round in 1...run.rounds {
      for index in results.indices {
        let target = results[index].target
        var measured: [String: [Double]] = [:]
        try run.withDatabase { place in
          let (theirs, ours) = (place + ".shell", place + ".boutique")
          for program in run.shuffled(["shell", "boutique"]) {
            run.progress("round \(round) of \(run.rounds): \(target.rawValue), \(program)")
            let path = program == "shell" ? theirs : ours
            try prepare(path, target, run)
            let words =
              program == "shell"
              ? ["sqlite3", path, "PRAGMA synchronous = normal", ".mode csv"]
                + [shellImport(file, target)]
              : [boutique, "import", path, "items", file, "--quiet"]
                + (target == .new ? ["--create"] : [])
            measured[program] = try Child.run(words, run).figures
          }
          try compare(theirs, ours, settings.rows, run)
        }
        guard let shell = measured["shell"], let library = measured["boutique"] else { continue }
        results[index].shellNanoseconds.append(shell[0])
        results[index].libraryNanoseconds.append(library[0])
        results[index].ratio.append(library[0] / max(1, shell[0]))
        results[index].processorRatio.append(library[1] / max(1, shell[1]))
      }
    }
    var table = TextTable(titles: [
      "into", "sqlite3, ms", "boutique, ms", "× sqlite3", "CPU × sqlite3", "target",
    ])
    for result in results {
      table.append([
        .text(result.target.rawValue), Figure.milliseconds(Median.of(result.shellNanoseconds)),
        Figure.milliseconds(Median.of(result.libraryNanoseconds)),
        Figure.decimal(Median.of(result.ratio)), Figure.decimal(Median.of(result.processorRatio)),
        Figure.decimal(1.5),
      ])
    }
    return BenchReport(
      notes: ["\(settings.rows) rows, medians of \(run.rounds) rounds"],
      tables: [("boutique import and .import", table)], results: results)
  }

  private static func shellImport(_ file: String, _ target: Target) -> String {
    // With a table that is there the header would be a row.
    target == .existing ? ".import --skip 1 \(file) items" : ".import \(file) items"
  }

  /// Makes the database, in WAL mode, with a table if there is to be one.
  private static func prepare(_ path: String, _ target: Target, _ run: BenchRun) throws {
    let text = "PRAGMA journal_mode = WAL; " + (target == .existing ? table : "")
    _ = try Child.run(["sqlite3", path, text], run)
  }

  /// The path of a program that stands beside this one.
  private static func sibling(_ name: String) throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: own).deletingLastPathComponent().appending(path: name)
      .path(percentEncoded: false)
    guard access(path, X_OK) == 0 else {
      throw BenchFailure("\(path) is missing; build it: swift build -c release --product \(name)")
    }
    return path
  }

  private static func write(_ rows: Int, to path: String) throws {
    guard let file = fopen(path, "w") else {
      throw BenchFailure("\(path): \(SystemMessage.text(errno))")
    }
    defer { fclose(file) }
    fputs("\(columns.replacing(" ", with: ""))\n", file)
    for number in 0..<rows {
      let row = BenchRow(number: number)
      let note = number % 10 == 0 ? "\"\(row.note), in \"\"quotes\"\"\"" : row.note
      fputs("\(row.id),\(row.name),\(note),\(row.price),\(row.count)\n", file)
    }
  }

  /// Throws where the rows of the two databases are not the same; the shell's new table has texts only.
  private static func compare(_ theirs: String, _ ours: String, _ rows: Int, _ run: BenchRun) throws
  {
    let values =
      "SELECT CAST(id AS INTEGER), name, note, CAST(price AS REAL), CAST(count AS INTEGER) FROM"
    let query = """
      ATTACH '\(ours)' AS ours; SELECT (SELECT count(*) FROM ours.items) = \(rows) AND NOT EXISTS \
      (\(values) main.items EXCEPT \(values) ours.items) AND NOT EXISTS \
      (\(values) ours.items EXCEPT \(values) main.items)
      """
    let output = try Child.run(["sqlite3", theirs, query], run).output
    guard output == "1\n" else { throw BenchFailure("the rows are not the same: \(output)") }
  }
}
