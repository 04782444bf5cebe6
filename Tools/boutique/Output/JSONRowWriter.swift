import BoutiqueDB
import CommandLineSupport

/// Writes one JSON object a row and line.
struct JSONRowWriter: RowWriter {
  private let output: TextOutput
  private var names: [String] = []

  init(_ output: TextOutput) { self.output = output }

  mutating func begin(columns: [String]) { names = Self.distinct(columns) }

  mutating func write(_ values: [SQLValue]) throws {
    try output.write(Self.object(names, values) + "\n")
  }

  mutating func end() {}

  /// One row as an object; the names have to be distinct.
  static func object(_ names: [String], _ values: [SQLValue]) -> String {
    JSONText.object(zip(names, values).map { ($0, $1.jsonText) })
  }

  /// Makes repeated column names different, as those of joins: the second `id` becomes `id:2`.
  static func distinct(_ columns: [String]) -> [String] {
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
