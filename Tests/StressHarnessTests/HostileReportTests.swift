import Foundation
import ProcessHarness
import StressHistory
import StressReport
import TestDatabase
import Testing

/// Reports whose numbers nobody can have measured.
@Suite struct HostileReportTests {
  private static let hostile = [
    "\(Int64.min)", "\(Int64.max)", "-1", "0", "1", "\(Int64.max - 1)", "1e308", "-1e308", "4e18",
    "1e-300", "18446744073709551615",
  ]

  /// Reports that can be decoded, in each of which some numbers are others.
  private static func reports() throws -> [SavedReport] {
    let report = KnownRun.report([KnownRun.violated])
    let tokens = Tokens(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    var random = SeededRandom(seed: 5, purpose: "hostile")
    var texts: [String] = []
    // Each number alone, and many together.
    for place in tokens.numbers {
      for value in hostile.shuffled(using: &random).prefix(4) {
        texts.append(tokens.with([place: value]))
      }
    }
    for chance in [3, 10, 50] {
      for _ in 0..<60 {
        var changes: [Int: String] = [:]
        for place in tokens.numbers where random.chance(chance) {
          changes[place] = hostile[random.int(0...hostile.count - 1)]
        }
        texts.append(tokens.with(changes))
      }
    }
    return texts.compactMap { try? JSONDecoder().decode(SavedReport.self, from: Data($0.utf8)) }
  }

  @Test func `no number in a report's file ends the program`() async throws {
    let place = try TestDirectory()
    let reports = try Self.reports()
    #expect(reports.count > 500)
    var all = reports[0]
    all.runs = reports.flatMap(\.runs)
    try all.write(place.file("all.json"))
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-stress", ["report", place.file("all.json")])
      #expect(try await child.exit(within: .seconds(300)) == .exited(0), "\(child.standardError)")
    }
  }

  @Test(arguments: [Int64.min, .max, -1, 0])
  func `figures are worked out of any times`(time: Int64) throws {
    var result = KnownRun.result
    result.began = time
    result.ended = time == .max ? .min : .max
    for index in result.history.operations.indices where index % 3 == 0 {
      result.history.operations[index].began = index % 2 == 0 ? .min : .max
      result.history.operations[index].ended = index % 4 == 0 ? .min : .max
    }
    result.history.samples = [
      Sample(.lockWait, process: 0, time: .min, value: .max),
      Sample(.logBytes, process: 0, time: .max, value: .max),
    ]
    let figures = RunFigures(result)
    #expect(figures.outcomes.all == result.history.operations.count)
    #expect(figures.slots.reduce(0) { $0 + $1.outcomes.all } == figures.outcomes.all)
    #expect(ReportPage.html(KnownRun.report([result])).contains("</html>"))
  }

  @Test func `sums and differences stop at the ends`() {
    #expect(Int64.min.minus(1) == .min)
    #expect(Int64.max.minus(-1) == .max)
    #expect(Int64.max.plus(1) == .max)
    #expect(Int64.min.plus(-1) == .min)
    #expect((3 as Int64).minus(5) == -2)
    #expect(
      [Double.nan.whole, Double.infinity.whole, (-1e300).whole, (7.9).whole] == [0, .max, .min, 7])
  }
}

/// The text of a JSON file, cut at its numbers.
private struct Tokens {
  /// Texts; those at odd places are numbers.
  private var parts: [String] = []

  init(_ text: String) {
    var current = ""
    var isNumber = false
    var isText = false
    var isEscaped = false
    for character in text {
      if isText {
        current.append(character)
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isText = false
        }
        continue
      }
      let belongs =
        isNumber ? "+-.eE0123456789".contains(character) : "-0123456789".contains(character)
      if belongs != isNumber {
        parts.append(current)
        current = ""
        isNumber = belongs
      }
      if character == "\"" { isText = true }
      current.append(character)
    }
    parts.append(current)
  }

  /// The places of the numbers.
  var numbers: [Int] { Array(stride(from: 1, to: parts.count, by: 2)) }

  /// The text with other numbers.
  func with(_ changes: [Int: String]) -> String {
    parts.enumerated().map { changes[$0.offset] ?? $0.element }.joined()
  }
}
