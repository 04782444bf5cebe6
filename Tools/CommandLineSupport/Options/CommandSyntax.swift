/// What a command line of one command may look like; parses it and explains it.
///
/// The rules are those of GNU programs: options and operands may be mixed; `--name=value` and
/// `--name value` are the same; `-n5`, `-n 5` too; short flags can be written together (`-jq`);
/// `--` ends the options; a lone `-` is an operand. A negative number is an operand as long as no
/// option is a digit, so that numbers can be handed on as arguments of a statement.
package struct CommandSyntax<Settings>: Sendable {
  /// What a command line asks for.
  package enum Request {
    /// To do the work, with these settings and operands.
    case run(Settings, operands: [String])
    /// To print the help text.
    case help
    /// To print the version.
    case version
  }

  /// The command as typed, "boutique import".
  package let name: String

  /// One sentence for lists of commands and the head of the help text.
  package let summary: String

  /// The operands in order.
  package let operands: [Operand]

  /// The options in the order of the help text; `--help` and `--version` come by themselves.
  package let options: [CommandOption<Settings>]

  /// Paragraphs after the options.
  package let notes: [String]

  /// Command lines that show what it is for.
  package let examples: [String]

  /// Declares a command.
  package init(
    name: String, summary: String, operands: [Operand], options: [CommandOption<Settings>],
    notes: [String] = [], examples: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.options = options
    self.notes = notes
    self.examples = examples
  }

  /// Reads the words after the command's name.
  package func parse(
    _ arguments: [String], into initial: Settings
  ) throws(UsageError) -> Request {
    var settings = initial
    var found: [String] = []
    var words = arguments[...]
    while let word = words.popFirst() {
      if word == "--" {
        found += words
        break
      } else if word.hasPrefix("--") {
        if let request = try parseLong(word, &words, &settings) { return request }
      } else if word.hasPrefix("-"), word != "-", !isNegativeNumber(word) {
        if let request = try parseShort(word, &words, &settings) { return request }
      } else {
        found.append(word)
      }
    }
    try checkOperands(found)
    return .run(settings, operands: found)
  }

  private func parseLong(
    _ word: String, _ words: inout ArraySlice<String>, _ settings: inout Settings
  ) throws(UsageError) -> Request? {
    let parts = word.dropFirst(2).split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let value = parts.count > 1 ? String(parts[1]) : nil
    if let option = options.first(where: { $0.long == name }) {
      try apply(option, as: "--\(name)", value: value, &words, &settings)
      return nil
    }
    guard name == "help" || name == "version" else {
      let known = options.map { "--\($0.long)" } + ["--help", "--version"]
      throw .unknownOption(
        "--\(name)", suggestion: Suggestion.nearest(to: "--\(name)", among: known))
    }
    if let value { throw .unexpectedValue(option: "--\(name)", value: value) }
    return name == "help" ? .help : .version
  }

  private func parseShort(
    _ word: String, _ words: inout ArraySlice<String>, _ settings: inout Settings
  ) throws(UsageError) -> Request? {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.short == letter }) else {
        if letter == "h" { return .help }
        throw .unknownOption("-\(letter)", suggestion: nil)
      }
      if option.placeholder != nil, !letters.isEmpty {
        try apply(option, as: "-\(letter)", value: String(letters), &words, &settings)
        return nil
      }
      try apply(option, as: "-\(letter)", value: nil, &words, &settings)
    }
    return nil
  }

  private func apply(
    _ option: CommandOption<Settings>, as spelling: String, value: String?,
    _ words: inout ArraySlice<String>, _ settings: inout Settings
  ) throws(UsageError) {
    var text = value
    if let placeholder = option.placeholder {
      text = text ?? words.popFirst()
      if text == nil { throw .missingValue(option: spelling, placeholder: placeholder) }
    } else if let value {
      throw .unexpectedValue(option: spelling, value: value)
    }
    do {
      try option.effect(&settings, text ?? "")
    } catch {
      throw .invalidValue(option: spelling, value: text ?? "", expected: error.expected)
    }
  }

  private func isNegativeNumber(_ word: String) -> Bool {
    Double(word) != nil && word.dropFirst().first?.isNumber == true
      && !options.contains { $0.short?.isNumber == true }
  }

  private func checkOperands(_ found: [String]) throws(UsageError) {
    let required = operands.filter { $0.presence == .required }
    if found.count < required.count { throw .missingOperand(required[found.count].name) }
    let isOpenEnded = operands.last?.presence == .repeated
    if !isOpenEnded, found.count > operands.count {
      throw .unexpectedOperand(found[operands.count])
    }
  }
}
