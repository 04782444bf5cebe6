/// What is wrong with a command line.
package enum UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No such option; the suggestion is one that is spelled much alike.
  case unknownOption(String, suggestion: String?)
  /// The option's value is missing.
  case missingValue(option: String, placeholder: String)
  /// A flag was given a value.
  case unexpectedValue(option: String, value: String)
  /// The option's value cannot be used.
  case invalidValue(option: String, value: String, expected: String)
  /// An operand is missing.
  case missingOperand(String)
  /// One operand too many.
  case unexpectedOperand(String)
  /// Two options that exclude each other.
  case conflict(String, String)
  /// No such subcommand; the suggestion is one that is spelled much alike.
  case unknownCommand(String, suggestion: String?)
  /// A rule of one command only, told in a sentence without full stop.
  case other(String)

  package var description: String {
    switch self {
    case .unknownOption(let name, let suggestion):
      "unknown option \(name)" + Self.question(suggestion)
    case .missingValue(let option, let placeholder):
      "option \(option) needs a value: \(option)\(option.hasPrefix("--") ? "=" : " ")\(placeholder)"
    case .unexpectedValue(let option, let value):
      "option \(option) takes no value, but was given “\(value)”"
    case .invalidValue(let option, let value, let expected):
      "option \(option): “\(value)” is not \(expected)"
    case .missingOperand(let name):
      "\(name) is missing"
    case .unexpectedOperand(let text):
      "“\(text)” is one operand too many"
    case .conflict(let first, let second):
      "\(first) and \(second) cannot be used together"
    case .unknownCommand(let name, let suggestion):
      "unknown command “\(name)”" + Self.question(suggestion)
    case .other(let sentence):
      sentence
    }
  }

  private static func question(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean \($0)?" } ?? ""
  }
}
