// What cannot be assigned, for the sake of the message: without these the compiler names the wrong
// overload, or finds no words at all. An unavailable member is taken only where no other fits.

extension Updates {
  /// A column that SQLite computes.
  @available(*, unavailable, message: "a generated column is never written")
  public subscript<Root, Value: QueryRepresentable>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> Value.Output {
    get { preconditionFailure("a generated column is never written") }
    set {}
  }

  /// A column that SQLite computes.
  @available(*, unavailable, message: "a generated column is never written")
  public subscript<Root, Value: QueryRow>(
    dynamicMember keyPath: KeyPath<Columns, GeneratedColumn<Root, Value>>
  ) -> UpdatableColumn<Value> {
    get { preconditionFailure("a generated column is never written") }
    set {}
  }
}
