extension DefaultStringInterpolation {
  /// Puts the name of a column into a text: `"\(\Post.$title) = ?"`.
  public mutating func appendInterpolation<T: BlackbirdModel, Value>(
    _ column: KeyPath<T, BlackbirdColumn<Value>>
  ) {
    // Interpolation cannot throw; what is no column makes SQL that SQLite refuses.
    appendLiteral((try? T.table.name(of: column)) ?? "`no column of \(T.self)`")
  }
}
