import Foundation

/// A scenario as JSON Lines: a header, then one line for each part, so that two scripts can be compared and
/// lines deleted by hand.
package enum ScriptFile {
  private struct Header: Codable {
    var seed: UInt64
    var rounds: Int
    var isMadeByForeigner: Bool
    var plant: Plant?
  }

  /// One line; exactly one member is there.
  private struct Line: Codable {
    var scenario: Header?
    var process: ProcessPlan?
    var schema: SchemaStatement?
    var operation: Operation?
    var query: QueryPlan?
    var feed: FeedPlan?
    var disturbance: Disturbance?
  }

  /// A line that is no part of a script.
  package struct Malformed: Error, CustomStringConvertible {
    /// What is wrong with it.
    package let description: String
  }

  /// Returns the text of a script.
  package static func text(of scenario: Scenario) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var lines = [
      Line(
        scenario: Header(
          seed: scenario.seed, rounds: scenario.rounds,
          isMadeByForeigner: scenario.isMadeByForeigner, plant: scenario.plant))
    ]
    lines += scenario.processes.map { Line(process: $0) }
    lines += scenario.schema.map { Line(schema: $0) }
    lines += scenario.operations.map { Line(operation: $0) }
    lines += scenario.queries.map { Line(query: $0) }
    lines += scenario.feeds.map { Line(feed: $0) }
    lines += scenario.disturbances.map { Line(disturbance: $0) }
    return try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
      .joined()
  }

  /// Reads the text of a script.
  package static func scenario(from text: String) throws -> Scenario {
    let decoder = JSONDecoder()
    var scenario: Scenario?
    for (index, text) in text.split(separator: "\n").enumerated() {
      let line: Line
      do {
        line = try decoder.decode(Line.self, from: Data(text.utf8))
      } catch {
        throw Malformed(description: "line \(index + 1) is no part of a script: \(error)")
      }
      if let header = line.scenario {
        var begun = Scenario(
          seed: header.seed, rounds: header.rounds, isMadeByForeigner: header.isMadeByForeigner)
        begun.plant = header.plant
        scenario = begun
      }
      guard scenario != nil else {
        throw Malformed(description: "line 1 does not begin a script with {\"scenario\":…}")
      }
      if let part = line.process { scenario?.processes.append(part) }
      if let part = line.schema { scenario?.schema.append(part) }
      if let part = line.operation { scenario?.operations.append(part) }
      if let part = line.query { scenario?.queries.append(part) }
      if let part = line.feed { scenario?.feeds.append(part) }
      if let part = line.disturbance { scenario?.disturbances.append(part) }
    }
    guard let scenario else { throw Malformed(description: "the script is empty") }
    return scenario
  }

  /// Writes a script to a file.
  package static func write(_ scenario: Scenario, to path: String) throws {
    try Data(text(of: scenario).utf8).write(to: URL(filePath: path), options: .atomic)
  }

  /// Reads a script from a file.
  package static func read(_ path: String) throws -> Scenario {
    try scenario(
      from: String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
  }
}
