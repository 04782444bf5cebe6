import CommandLineSupport
import Glibc

/// The file of an import, or standard input; opens it as rows.
struct ImportFile: Sendable {
  let path: String
  let format: ImportSettings.Format
  let settings: ImportSettings

  var isStandardInput: Bool { path == "-" }

  /// What messages call it.
  var name: String { isStandardInput ? "standard input" : path }

  init(path: String, settings: ImportSettings) throws(UsageError) {
    self.path = path
    self.settings = settings
    format = try settings.format(of: path)
  }

  /// Opens the bytes.
  func open() throws(MalformedInput) -> ByteInput {
    isStandardInput
      ? ByteInput(fileDescriptor: STDIN_FILENO, closes: false) : try ByteInput.open(path: path)
  }

  /// Begins to read rows; a header line is read at once.
  func rows(_ input: ByteInput) throws(MalformedInput) -> any RowSource {
    if format == .jsonl { return JSONRows(input, chosen: settings.columns) }
    var delimited = format == .csv ? DelimitedFormat.csv : .tsv
    if let delimiter = settings.delimiter { delimited.delimiter = delimiter }
    return try DelimitedRows(
      input, format: delimited, hasHeader: settings.hasHeader, columns: settings.columns,
      nullText: settings.nullText ?? "")
  }

  /// Says what went wrong: the file, the place in it, the reason, what became of the rows.
  func failure(_ malformed: MalformedInput, consequence: String) -> CommandFailure {
    if case .unreadable = malformed.reason, malformed.line == 1, malformed.column == 1 {
      return CommandFailure("\(name): \(malformed.reason); \(consequence)")
    }
    return CommandFailure(
      "\(name):\(malformed.line):\(malformed.column): \(malformed.reason); \(consequence)")
  }
}
