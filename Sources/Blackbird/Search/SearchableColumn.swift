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

/// The columns of a model's full-text index, and how each takes part in it.
///
/// Written as a dictionary: `[\.$title: .text(weight: 2), \.$state: .filterOnly]`.
public struct BlackbirdFullTextIndex<Model: BlackbirdModel>: Sendable,
  ExpressibleByDictionaryLiteral
{
  let columns: [(key: Model.BlackbirdColumnKeyPath, value: BlackbirdModelFullTextSearchableColumn)]

  /// Creates an index of columns.
  public init(
    dictionaryLiteral elements: (
      Model.BlackbirdColumnKeyPath, BlackbirdModelFullTextSearchableColumn
    )...
  ) {
    columns = elements.map { (key: $0.0, value: $0.1) }
  }
}

/// A column whose words are in a full-text index.
struct SearchedColumn: Sendable, Hashable {
  let name: String
  let weight: Double
}
