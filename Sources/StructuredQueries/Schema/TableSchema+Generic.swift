import Synchronization

// Swift keeps no stored static properties in generic types. Their descriptions are kept here, because
// a statement is recognised by the description object that it names.
private let schemas = Mutex<[ObjectIdentifier: TableSchema]>([:])

extension TableSchema {
  /// Returns the description of a table whose struct is generic, made once for each of its types.
  ///
  /// `@Table` calls it where a struct is generic or lies within a type that may be.
  public static func shared<T: Table>(
    by type: T.Type, _ make: () -> TableSchema
  ) -> TableSchema {
    let key = ObjectIdentifier(type)
    if let schema = schemas.withLock({ $0[key] }) { return schema }
    // Made without the lock, since it may ask for the descriptions of other tables.
    let made = make()
    return schemas.withLock { schemas in
      if let schema = schemas[key] { return schema }
      schemas[key] = made
      return made
    }
  }
}
