import CommandLineSupport

/// What `boutique import` is asked for.
struct ImportSettings: Sendable {
  /// The kinds of files.
  enum Format: String, CaseIterable, Sendable {
    case csv
    case tsv
    case jsonl
  }

  var common = CommonSettings()
  var format: Format?
  var creates = false
  var columns: [String]?
  var hasHeader = true
  var delimiter: UInt8?
  var nullText: String?
  var batch: Int?
  var isQuiet = false

  /// Decides the format and refuses options that do not go with it.
  func format(of file: String) throws(UsageError) -> Format {
    let format: Format
    if let said = self.format {
      format = said
    } else {
      format = try Self.format(byNameOf: file)
    }
    if format == .jsonl {
      if delimiter != nil { throw .conflict("--delimiter", "JSON lines") }
      if nullText != nil { throw .conflict("--null", "JSON lines") }
      if !hasHeader { throw .conflict("--no-header", "JSON lines") }
    }
    return format
  }

  private static func format(byNameOf file: String) throws(UsageError) -> Format {
    if file == "-" {
      throw .other("say with --format what standard input is: csv, tsv or jsonl")
    }
    switch file.split(separator: ".").last?.lowercased() {
    case "csv": return .csv
    case "tsv", "tab": return .tsv
    case "jsonl", "ndjson": return .jsonl
    default:
      throw .other("the name “\(file)” does not tell the format; say --format=csv, tsv or jsonl")
    }
  }

  static let syntax = CommandSyntax<ImportSettings>(
    name: "boutique import",
    summary: "Insert the rows of a CSV, TSV or JSON lines file into a table.",
    operands: [
      Operand("DB", help: "The database file."),
      Operand("TABLE", help: "The table that gets the rows."),
      Operand("FILE", help: "The file; “-” is standard input."),
    ],
    options: [
      .value(
        "format", short: "f", "FORMAT", help: "csv, tsv or jsonl, if the file's name does not tell."
      ) { (settings, text) throws(InvalidValue) in
        settings.format = try OptionValue.choice(text)
      },
      .flag(
        "create",
        help:
          "Make the table (and the database) from the header line, with types that fit all rows."
      ) { $0.creates = true },
      .value(
        "columns", short: "c", "A,B,C",
        help: "The table's columns for the fields of the file, in order, whatever its header says; "
          + "for JSON lines, the members to take."
      ) { (settings, text) throws(InvalidValue) in
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        guard !names.contains(""), Set(names.map { $0.lowercased() }).count == names.count else {
          throw InvalidValue(expected: "a list of different names parted by commas")
        }
        settings.columns = names
      },
      .flag("no-header", help: "The first line is data, not names.") { $0.hasHeader = false },
      .value("delimiter", short: "d", "CHARACTER", help: "What parts the fields; “tab” for a tab.")
      {
        (settings, text) throws(InvalidValue) in
        settings.delimiter = try DelimitedFormat.delimiter(text)
      },
      .value(
        "null", "TEXT",
        help: "The unquoted text that stands for NULL; an empty field if not given."
      ) { $0.nullText = $1 },
      .value("batch", short: "b", "N", help: "Commit after every N rows.") {
        (settings, text) throws(InvalidValue) in
        settings.batch = try OptionValue.positiveInteger(text)
      },
      .flag("quiet", short: "q", help: "No progress and no closing line.") { $0.isQuiet = true },
    ] + CommonSettings.options { (settings, change) in change(&settings.common) },
    notes: [
      """
      Without --batch the whole file is one transaction: when anything is wrong with it, nothing is \
      imported. Other processes read meanwhile, but wait to write; with --batch they get their turn \
      between the batches, and after an error the batches before it stay.
      """,
      """
      Fields are quoted as RFC 4180 says; what cannot be read is reported with line and column. \
      Members of a JSON object that hold arrays or objects are stored as JSON text, true and false \
      as 1 and 0.
      """,
    ],
    examples: [
      "boutique import app.db people people.csv --create",
      "zcat log.jsonl.gz | boutique import app.db log - --format=jsonl --batch=10000",
    ])
}
