import BoutiqueDB
import CommandLineSupport

/// Writes one JSON object a row and line.
struct JSONRowWriter: RowWriter {
  private let output: TextOutput
  private var names: [String] = []

  init(_ output: TextOutput) { self.output = output }

  mutating func begin(columns: [String]) { names = Self.names(columns) }

  mutating func write(_ values: [SQLValue]) throws {
    try output.write(Self.object(names, values) + "\n")
  }

  mutating func end() {}

  /// One row as an object, with what ``names(_:)`` made of its columns.
  static func object(_ names: [String], _ values: [SQLValue]) -> String {
    var text = "{"
    for (name, value) in zip(names, values) {
      if text.utf8.count > 1 { text += "," }
      text += name
      text += value.jsonText
    }
    return text + "}"
  }

  /// The columns' names as JSON text with their colons, ready to be put before values.
  static func names(_ columns: [String]) -> [String] {
    distinct(columns).map { JSONText.string($0) + ":" }
  }

  /// Makes repeated column names different, as those of joins: the second `id` becomes `id:2`.
  private static func distinct(_ columns: [String]) -> [String] {
    var used: Set<String> = []
    return columns.map { column in
      var name = column
      var number = 2
      while !used.insert(name).inserted {
        name = "\(column):\(number)"
        number += 1
      }
      return name
    }
  }
}
