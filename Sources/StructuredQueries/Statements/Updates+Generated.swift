extension Updates {
  /// A column that SQLite computes, to be read in an expression.
  @_disfavoredOverload
  public subscript<Root, Value: QueryRow>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> GeneratedColumn<Root, Value> { columns[keyPath: keyPath] }

  /// A column that SQLite computes; the overload is here for the message only.
  @available(
    *, unavailable,
    message: "a generated column is never written, and assigned to others by .set(…)"
  )
  public subscript<Root, Value: QueryRepresentable>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> Value.Output {
    get { preconditionFailure("a generated column is never written") }
    set {}
  }
}

extension GeneratedColumn {
  /// Assigns nothing; the function is here for the message only.
  @available(*, unavailable, message: "a generated column is never written")
  public func set<Other>(_ value: Other) {}
}
