/// One option that a command understands, and what it does to the command's settings.
///
/// Options are declared as a list and parsed by ``CommandSyntax``:
///
/// ```swift
/// let options: [CommandOption<Settings>] = [
///   .flag("json", short: "j", help: "Write JSON lines.") { $0.format = .json },
///   .value("batch", "N", help: "Commit every N rows.") { settings, text throws(InvalidValue) in
///     settings.batch = try OptionValue.positiveInteger(text)
///   },
/// ]
/// ```
package struct CommandOption<Settings>: Sendable {
  /// Changes the settings; a flag is handed an empty text.
  package typealias Effect = @Sendable (inout Settings, String) throws(InvalidValue) -> Void

  /// The long name without its dashes.
  package let long: String

  /// The letter of the short form.
  package let short: Character?

  /// What the value is called in the help text; nil makes the option a flag.
  package let placeholder: String?

  /// One or two sentences for the help text.
  package let help: String

  let effect: Effect

  /// Declares an option that takes no value.
  package static func flag(
    _ long: String, short: Character? = nil, help: String,
    _ effect: @escaping @Sendable (inout Settings) -> Void
  ) -> Self {
    Self(long: long, short: short, placeholder: nil, help: help) { settings, _ in
      effect(&settings)
    }
  }

  /// Declares an option that takes a value.
  package static func value(
    _ long: String, short: Character? = nil, _ placeholder: String, help: String,
    _ effect: @escaping Effect
  ) -> Self {
    Self(long: long, short: short, placeholder: placeholder, help: help, effect: effect)
  }
}

/// A word of the command line that is not an option: what it is called and whether it must be there.
package struct Operand: Sendable {
  /// How often an operand may appear.
  package enum Presence: Sendable {
    /// Once.
    case required
    /// Once or not at all.
    case optional
    /// Any number of times, the last operand only.
    case repeated
  }

  /// The name in capitals, as the help text shows it.
  package let name: String

  /// One or two sentences for the help text.
  package let help: String

  /// How often it may appear.
  package let presence: Presence

  /// Declares an operand.
  package init(_ name: String, _ presence: Presence = .required, help: String) {
    self.name = name
    self.presence = presence
    self.help = help
  }
}

/// Says why the text given to an option is no good; the parser adds which option it was.
package struct InvalidValue: Error, Equatable, Sendable {
  /// What is wanted, as the end of a sentence: "a whole number above 0".
  package let expected: String

  /// Makes the complaint.
  package init(expected: String) { self.expected = expected }
}

/// Readers for the usual kinds of option values.
package enum OptionValue {
  /// Reads a whole number from 1 up.
  package static func positiveInteger(_ text: String) throws(InvalidValue) -> Int {
    guard let number = Int(text), number > 0 else {
      throw InvalidValue(expected: "a whole number above 0")
    }
    return number
  }

  /// Reads a number of seconds, fractions allowed.
  package static func seconds(_ text: String) throws(InvalidValue) -> Duration {
    // A year is far beyond any sensible wait and far below where Duration overflows.
    guard let number = Double(text), number >= 0, number <= 31_536_000 else {
      throw InvalidValue(expected: "a number of seconds such as 5 or 0.25")
    }
    return .milliseconds(Int64((number * 1000).rounded()))
  }

  /// Reads one of a few words.
  package static func choice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type = Choice.self
  ) throws(InvalidValue) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw InvalidValue(expected: "one of \(words)")
    }
    return choice
  }
}
