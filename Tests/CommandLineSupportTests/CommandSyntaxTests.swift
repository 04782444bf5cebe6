import CommandLineSupport
import Testing

@Suite struct CommandSyntaxTests {
  struct Settings: Equatable, Sendable {
    var json = false
    var quiet = false
    var count = 0
    var params: [String] = []
    var timeout = Duration.seconds(10)
  }

  let syntax = CommandSyntax<Settings>(
    name: "tool work", summary: "Works.",
    operands: [Operand("DB", help: "The file."), Operand("ARG", .repeated, help: "More.")],
    options: [
      .flag("json", short: "j", help: "JSON lines.") { $0.json = true },
      .flag("quiet", short: "q", help: "Say less.") { $0.quiet = true },
      .value("count", short: "n", "N", help: "How many.") {
        (settings, text) throws(InvalidValue) in
        settings.count = try OptionValue.positiveInteger(text)
      },
      .value("param", short: "p", "NAME=VALUE", help: "A parameter.") { settings, text in
        settings.params.append(text)
      },
      .value("timeout", "SECONDS", help: "How long.") { (settings, text) throws(InvalidValue) in
        settings.timeout = try OptionValue.seconds(text)
      },
    ])

  func run(_ words: [String]) throws -> (settings: Settings, operands: [String]) {
    guard case .run(let settings, let operands) = try syntax.parse(words, into: Settings()) else {
      throw UsageError.other("not a run")
    }
    return (settings, operands)
  }

  @Test(arguments: [
    ["db", "--json", "--count=5"],
    ["--json", "--count", "5", "db"],
    ["-j", "-n", "5", "db"],
    ["-jn5", "db"],
    ["-n5", "db", "-j"],
    ["-jn", "5", "--", "db"],
  ])
  func `all ways to write the same options mean the same`(words: [String]) throws {
    let (settings, operands) = try run(words)
    #expect(settings == Settings(json: true, count: 5))
    #expect(operands == ["db"])
  }

  @Test func `flags are grouped and values repeat`() throws {
    let (settings, _) = try run(["-jq", "-pa=1", "--param=b=2=3", "db"])
    #expect(settings == Settings(json: true, quiet: true, params: ["a=1", "b=2=3"]))
  }

  @Test func `two dashes end the options`() throws {
    let (settings, operands) = try run(["db", "--", "--json", "-x", "--"])
    #expect(settings == Settings())
    #expect(operands == ["db", "--json", "-x", "--"])
  }

  @Test func `a lone dash and negative numbers are operands`() throws {
    #expect(try run(["-", "-5", "-2.5e3"]).operands == ["-", "-5", "-2.5e3"])
  }

  @Test func `an empty word and an empty value are kept`() throws {
    let (settings, operands) = try run(["db", "", "--param="])
    #expect(operands == ["db", ""])
    #expect(settings.params == [""])
  }

  @Test(arguments: [
    (["--jsno", "db"], UsageError.unknownOption("--jsno", suggestion: "--json")),
    (["--xyzzy", "db"], .unknownOption("--xyzzy", suggestion: nil)),
    (["--hlep"], .unknownOption("--hlep", suggestion: "--help")),
    (["-jx", "db"], .unknownOption("-x", suggestion: nil)),
    (["-infinity", "db"], .unknownOption("-i", suggestion: nil)),
    (["db", "--count"], .missingValue(option: "--count", placeholder: "N")),
    (["db", "-n"], .missingValue(option: "-n", placeholder: "N")),
    (["db", "--json=yes"], .unexpectedValue(option: "--json", value: "yes")),
    (["--help=x"], .unexpectedValue(option: "--help", value: "x")),
    (
      ["db", "--count=none"],
      .invalidValue(option: "--count", value: "none", expected: "a whole number above 0")
    ),
    (
      ["db", "-n0"],
      .invalidValue(option: "-n", value: "0", expected: "a whole number above 0")
    ),
    (
      ["db", "--timeout=-1"],
      .invalidValue(
        option: "--timeout", value: "-1", expected: "a number of seconds such as 5 or 0.25")
    ),
    ([], .missingOperand("DB")),
    (["--json"], .missingOperand("DB")),
  ])
  func `a wrong command line names what is wrong`(words: [String], expected: UsageError) {
    #expect(throws: expected) { try syntax.parse(words, into: Settings()) }
  }

  @Test func `operands beyond the last are refused when the last does not repeat`() {
    let fixed = CommandSyntax<Settings>(
      name: "tool", summary: "Works.",
      operands: [Operand("DB", help: "The file."), Operand("SQL", .optional, help: "A query.")],
      options: [])
    #expect(throws: UsageError.unexpectedOperand("c")) {
      try fixed.parse(["a", "b", "c"], into: Settings())
    }
  }

  @Test(arguments: [["--help"], ["-h"], ["-jh", "db"], ["db", "--help", "--bad"]])
  func `help is asked for in several ways`(words: [String]) throws {
    guard case .help = try syntax.parse(words, into: Settings()) else {
      Issue.record("not taken for help")
      return
    }
  }

  @Test func `version is asked for`() throws {
    guard case .version = try syntax.parse(["--version"], into: Settings()) else {
      Issue.record("not taken for version")
      return
    }
  }

  @Test(arguments: ["nan", "-0.1", "inf", "ten", "", "1e99"])
  func `a number of seconds must be one`(text: String) {
    #expect(throws: InvalidValue.self) { try OptionValue.seconds(text) }
  }

  @Test func `seconds take fractions`() throws {
    #expect(try OptionValue.seconds("0.25") == .milliseconds(250))
    #expect(try OptionValue.seconds("0") == .zero)
  }

  @Test func `the help text names every option once and keeps to the width`() {
    let text = syntax.helpText(width: 60)
    #expect(text.hasPrefix("usage: tool work [OPTION]... DB [ARG]...\n"))
    for option in ["-j, --json", "-n, --count=N", "--timeout=SECONDS", "-h, --help", "--version"] {
      #expect(text.split(separator: option, omittingEmptySubsequences: false).count == 2)
    }
    for line in text.split(separator: "\n") { #expect(line.count <= 60) }
  }

  @Test func `errors read as sentences`() {
    #expect(
      UsageError.unknownOption("--jsno", suggestion: "--json").description
        == "unknown option --jsno; did you mean --json?")
    #expect(
      UsageError.missingValue(option: "-n", placeholder: "N").description
        == "option -n needs a value: -n N")
  }
}

@Suite struct SuggestionTests {
  let commands = ["import", "query", "exec", "watch", "changes", "status", "backup", "check"]

  @Test(arguments: [
    ("imprt", "import"), ("qurey", "query"), ("satus", "status"), ("STATUS", "status"),
    ("chek", "check"), ("watc", "watch"), ("back", "backup"), ("exce", "exec"),
  ])
  func `a slip is recognised`(word: String, meant: String) {
    #expect(Suggestion.nearest(to: word, among: commands) == meant)
  }

  @Test(arguments: ["delete", "x", "", "launch-missiles"])
  func `another word is no slip`(word: String) {
    #expect(Suggestion.nearest(to: word, among: commands) == nil)
  }
}
