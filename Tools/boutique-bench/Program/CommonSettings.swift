import CommandLineSupport

/// What all subcommands have in common.
struct CommonSettings: Sendable, Codable {
  /// How often everything is measured; the figures are the medians.
  var rounds = 3
  /// Where the databases are made.
  var directory: String?
  /// Whether the report is for programs.
  var isJSON = false
  /// What decides the order of the measurements.
  var seed: UInt64?
  /// Seconds that any one step may take.
  var timeout = 900.0

  private enum CodingKeys: String, CodingKey {
    case rounds
    case timeout
  }

  /// The options for these settings, inside the settings of any subcommand.
  static func options<Settings>(
    _ access: @escaping @Sendable (inout Settings, (inout CommonSettings) -> Void) -> Void
  ) -> [CommandOption<Settings>] {
    [
      .value(
        "rounds", "N", help: "Measure everything N times and show the medians; 3 if not given."
      ) { (settings, text) throws(InvalidValue) in
        let rounds = try OptionValue.positiveInteger(text)
        access(&settings) { $0.rounds = rounds }
      },
      .value(
        "directory", "DIR",
        help: """
          Make the databases in a new directory under DIR, which decides the file system; $TMPDIR or \
          /tmp if not given.
          """
      ) { settings, text in access(&settings) { $0.directory = text } },
      .value("seed", "N", help: "Measure in the order of an earlier run that showed this seed.") {
        (settings, text) throws(InvalidValue) in
        guard let seed = UInt64(text) else { throw InvalidValue(expected: "a whole number") }
        access(&settings) { $0.seed = seed }
      },
      .value(
        "timeout", "SECONDS",
        help: "Give up when one step takes longer than this; 900 if not given."
      ) { (settings, text) throws(InvalidValue) in
        let timeout = try OptionValue.seconds(text)
        access(&settings) { $0.timeout = timeout.inSeconds }
      },
      .flag("json", short: "j", help: "Write one JSON object instead of tables.") { settings in
        access(&settings) { $0.isJSON = true }
      },
    ]
  }

  /// The paragraph that all help texts end with.
  static let note = """
    Variants of one round are run in random order, so that a disturbance of the machine hits all of \
    them alike. Only complete runs are compared: when a worker fails, so does the whole run, with the \
    worker's message and exit status 1.
    """
}

/// Readers for lists in option values.
enum ListValue {
  /// Reads whole numbers above 0 with commas between them.
  static func positiveIntegers(_ text: String) throws(InvalidValue) -> [Int] {
    var numbers: [Int] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let number = Int(word), number > 0 else {
        throw InvalidValue(expected: "a list of whole numbers above 0, such as 2,4,8")
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Reads words of a set with commas between them.
  static func choices<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type = Choice.self
  ) throws(InvalidValue) -> [Choice] where Choice.RawValue == String {
    var choices: [Choice] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let choice = Choice(rawValue: String(word)) else {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw InvalidValue(expected: "a list of these words: \(words)")
      }
      choices.append(choice)
    }
    return choices
  }
}
