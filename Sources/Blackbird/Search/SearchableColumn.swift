/// How a column takes part in a model's full-text index.
public struct BlackbirdModelFullTextSearchableColumn: Sendable, Hashable {
  /// How much a word in this column counts.
  let weight: Double
  /// Whether its words are in the index.
  let isIndexed: Bool

  /// A column whose words are found.
  public static var text: Self { .text(weight: 1) }

  /// A column whose words are found.
  ///
  /// - Parameter weight: how much a word in it counts, beside 1 for the others.
  public static func text(weight: Double = 1) -> Self { Self(weight: weight, isIndexed: true) }

  /// A column that results are filtered by, whose words are not found.
  ///
  /// Any column of the table can serve in the filter of a search; this says it for readers, and for Blackbird
  /// on Apple systems, which needs it.
  public static var filterOnly: Self { Self(weight: 0, isIndexed: false) }
}
