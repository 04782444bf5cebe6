/// An order of a result's rows.
public struct BlackbirdModelOrderClause<T: BlackbirdModel>: Sendable {
  private enum Term: Sendable {
    case column(any PartialKeyPath<T> & Sendable, isDescending: Bool)
    case random
  }

  private let term: Term

  /// The least value first; NULL before all.
  public static func ascending(_ column: T.BlackbirdColumnKeyPath) -> Self {
    Self(term: .column(column, isDescending: false))
  }
  /// The greatest value first; NULL after all.
  public static func descending(_ column: T.BlackbirdColumnKeyPath) -> Self {
    Self(term: .column(column, isDescending: true))
  }
  /// Another order each time.
  public static var random: Self { Self(term: .random) }

  /// Whether it is the same order each time.
  var isRepeatable: Bool {
    if case .column = term { true } else { false }
  }

  func text() throws -> String {
    switch term {
    case .column(let path, let isDescending):
      try T.sqlName(of: path) + (isDescending ? " DESC" : "")
    case .random: "random()"
    }
  }
}
