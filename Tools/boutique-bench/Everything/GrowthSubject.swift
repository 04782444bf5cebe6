import Foundation

/// One figure of the library at several sizes: which benchmark measures it, with which words, and where in its
/// results the figure stands.
struct GrowthSubject: Sendable {
  /// What it is, for a heading.
  let title: String
  /// What grows.
  let axis: String
  /// What is measured, with its unit.
  let unit: String
  let benchmark: String
  /// The sizes.
  let sizes: [Int]
  /// Small ones, to see that it works.
  let quickSizes: [Int]
  /// The words of the benchmark's command line for a size.
  let words: @Sendable (_ size: Int) -> [String]
  /// The lines of the drawing.
  let series: [Series]

  /// One line: entries of the results whose fields have these values, and the path to the number in them.
  struct Series: Sendable {
    let name: String
    let fields: [String: String]
    /// Field names with points between; an array stands for its median.
    let path: String
    /// Makes the number what ``GrowthSubject/unit`` says.
    let scale: @Sendable (_ value: Double, _ size: Int) -> Double

    init(
      _ name: String, _ fields: [String: String] = [:], path: String,
      scale: @escaping @Sendable (_ value: Double, _ size: Int) -> Double = { value, _ in value }
    ) {
      self.name = name
      self.fields = fields
      self.path = path
      self.scale = scale
    }

    /// Finds the number in a benchmark's results.
    func value(in results: Any) -> Double? {
      let entries = results as? [[String: Any]] ?? []
      let entry = entries.first { entry in
        fields.allSatisfy { "\(entry[$0.key] ?? "")" == $0.value }
      }
      var value: Any? = entry
      for name in path.split(separator: ".") {
        value = (value as? [String: Any])?[String(name)]
      }
      if let number = value as? NSNumber { return number.doubleValue }
      guard let numbers = value as? [NSNumber], !numbers.isEmpty else { return nil }
      return Median.of(numbers.map(\.doubleValue))
    }
  }

  /// What of everything is looked at.
  static let all: [GrowthSubject] = [
    GrowthSubject(
      title: "Rows in one transaction", axis: "rows", unit: "µs a row", benchmark: "rows",
      sizes: [20_000, 200_000], quickSizes: [200, 2000],
      words: { ["--rows=\($0)", "--singles=\(min($0, 2000))", "--keys=\(min($0, 20_000))"] },
      series: [
        .work("plain C, insert", "insert all, one transaction", "plainNanoseconds"),
        .work("insert", "insert all, one transaction", "libraryNanoseconds"),
        .work("update", "update all by key, one transaction", "libraryNanoseconds"),
        .work("fetch into structs", "fetch all into structs", "libraryNanoseconds"),
      ]),
    GrowthSubject(
      title: "One row of many", axis: "rows", unit: "µs each", benchmark: "rows",
      sizes: [20_000, 200_000], quickSizes: [200, 2000],
      words: { ["--rows=\($0)", "--singles=\(min($0, 2000))", "--keys=\(min($0, 20_000))"] },
      series: [
        .each("plain C, read by key", "read by key, in one read", "plainNanoseconds", 20_000),
        .each("read by key", "read by key, in one read", "libraryNanoseconds", 20_000),
        .each("insert, awaited", "insert one by one, each awaited", "libraryNanoseconds", 2000),
      ]),
    GrowthSubject(
      title: "A change under a live list", axis: "rows of the list", unit: "µs to the list",
      benchmark: "list", sizes: [10_000, 100_000], quickSizes: [100, 1000],
      words: { ["--rows=\($0)", "--samples=\($0 < 5000 ? 10 : 100)"] },
      series: [
        Series("a loop over the lists", ["variant": "loop"], path: "deliveryP50", scale: micro),
        Series("as differences", ["variant": "differences"], path: "deliveryP50", scale: micro),
        Series("by a closure", ["variant": "closure"], path: "deliveryP50", scale: micro),
        Series("its write", ["variant": "loop"], path: "writeP50", scale: micro),
      ]),
    GrowthSubject(
      title: "A change beside live queries", axis: "live queries", unit: "µs to the value",
      benchmark: "live", sizes: [1, 10, 100, 1000], quickSizes: [1, 10],
      words: { ["--queries=\($0)", "--samples=\($0 < 11 ? 50 : 100)", "--storm=0.5"] },
      series: [
        Series("written by the same process", path: "ownP50", scale: micro),
        Series("written by another", path: "otherP50", scale: micro),
        Series("its write", path: "writeP50", scale: micro),
      ]),
    GrowthSubject(
      title: "Processes that write without pause", axis: "processes", unit: "writes a second",
      benchmark: "contention", sizes: [2, 4, 8, 16], quickSizes: [2, 3],
      words: {
        ["--writers=\($0)", "--transactions=\($0 == 3 ? 50 : 4000)", "--variants=single,grouped"]
      },
      series: [
        Series("busy_timeout", ["variant": "baseline"], path: "median.throughput"),
        Series("one task each", ["variant": "single"], path: "median.throughput"),
        Series("64 tasks each, grouped", ["variant": "grouped"], path: "median.throughput"),
      ]),
    GrowthSubject(
      title: "The longest stall of a process that writes", axis: "processes", unit: "ms",
      benchmark: "contention", sizes: [2, 4, 8, 16], quickSizes: [2, 3],
      words: {
        ["--writers=\($0)", "--transactions=\($0 == 3 ? 50 : 4000)", "--variants=single,grouped"]
      },
      series: [
        Series("busy_timeout", ["variant": "baseline"], path: "median.longestStall", scale: milli),
        Series("one task each", ["variant": "single"], path: "median.longestStall", scale: milli),
        Series(
          "64 tasks each, grouped", ["variant": "grouped"], path: "median.longestStall",
          scale: milli),
      ]),
    GrowthSubject(
      title: "A store", axis: "items", unit: "µs an item", benchmark: "store",
      sizes: [10_000, 100_000], quickSizes: [100, 1000],
      words: { ["--items=\($0)", "--singles=\(min($0, 1000))"] },
      series: [
        .store("load", "load all"), .store("insert all at once", "insert all at once"),
        .store("insert one", "insert one by one"), .store("replace one", "replace one by one"),
      ]),
  ]

  private static let micro: @Sendable (Double, Int) -> Double = { value, _ in value / 1000 }
  private static let milli: @Sendable (Double, Int) -> Double = { value, _ in value / 1e6 }
}

extension GrowthSubject.Series {
  /// Work on all rows, for each of them.
  fileprivate static func work(_ name: String, _ work: String, _ path: String) -> Self {
    Self(name, ["work": work], path: path) { $0 / 1000 / Double($1) }
  }

  /// Work on a number of rows that stays the same, unless the table has fewer.
  fileprivate static func each(
    _ name: String, _ work: String, _ path: String, _ count: Int
  ) -> Self {
    Self(name, ["work": work], path: path) { $0 / 1000 / Double(min($1, count)) }
  }

  fileprivate static func store(_ name: String, _ work: String) -> Self {
    Self(name, ["work": work, "variant": "store"], path: "nanosecondsPerItem") { value, _ in
      value / 1000
    }
  }
}
