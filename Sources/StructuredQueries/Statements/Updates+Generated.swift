extension Updates {
  /// A column that SQLite computes; it is here for the sake of the message.
  @available(*, unavailable, message: "a generated column is never written")
  public subscript<Root, Value: QueryRepresentable>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> Value.Output {
    get { preconditionFailure("a generated column is never written") }
    set {}
  }

  /// A column that SQLite computes; it is here for the sake of the message.
  @available(*, unavailable, message: "a generated column is never written")
  public subscript<Root, Value: QueryRow>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> UpdatableColumn<Value> {
    get { preconditionFailure("a generated column is never written") }
    set {}
  }
}
