import BoutiqueDB

/// A value that an update computes from the row: `\.$count + 1`, `!\.$isRead`.
public struct BlackbirdColumnExpression<T: BlackbirdModel>: Sendable {
  private let result: Result<(sql: String, values: [SQLValue]), any Error>

  init(_ make: () throws -> (sql: String, values: [SQLValue])) {
    result = Result(catching: make)
  }

  /// A plain value, for an update that has both.
  public static func value(_ value: (any Sendable)?) -> Self {
    Self { ("?", [try ModelArgument.stored(value)]) }
  }

  func compiled() throws -> (sql: String, values: [SQLValue]) { try result.get() }

  fileprivate func then<Value: BlackbirdColumnWrappable>(_ sign: String, _ value: Value) -> Self {
    Self {
      let (sql, values) = try compiled()
      return ("(\(sql) \(sign) ?)", values + [try value._stored()])
    }
  }

  fileprivate static func of<Value>(
    _ column: KeyPath<T, BlackbirdColumn<Value>>, _ sign: String, _ value: Value
  ) -> Self {
    Self { ("(\(try T.sqlName(of: column)) \(sign) ?)", [try value._stored()]) }
  }
}

/// A column's value plus another; of texts, one behind the other.
public func + <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdColumnExpression<T> {
  .of(column, Value.columnType == .text ? "||" : "+", value)
}

/// A column's value minus another.
public func - <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdColumnExpression<T> { .of(column, "-", value) }

/// A column's value times another.
public func * <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdColumnExpression<T> { .of(column, "*", value) }

/// A column's value divided by another.
///
/// Of whole numbers it is the whole part. By zero it is NULL, which a column that is not optional refuses.
public func / <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdColumnExpression<T> { .of(column, "/", value) }

/// The opposite of a column's value.
public prefix func ! <T: BlackbirdModel>(
  column: KeyPath<T, BlackbirdColumn<Bool>>
) -> BlackbirdColumnExpression<T> {
  BlackbirdColumnExpression { ("NOT \(try T.sqlName(of: column))", []) }
}

/// An expression plus a number.
public func + <T: BlackbirdModel>(
  a: BlackbirdColumnExpression<T>, b: some BlackbirdColumnWrappable & Numeric
) -> BlackbirdColumnExpression<T> { a.then("+", b) }

/// An expression minus a number.
public func - <T: BlackbirdModel>(
  a: BlackbirdColumnExpression<T>, b: some BlackbirdColumnWrappable & Numeric
) -> BlackbirdColumnExpression<T> { a.then("-", b) }

/// An expression times a number.
public func * <T: BlackbirdModel>(
  a: BlackbirdColumnExpression<T>, b: some BlackbirdColumnWrappable & Numeric
) -> BlackbirdColumnExpression<T> { a.then("*", b) }

/// An expression divided by a number.
public func / <T: BlackbirdModel>(
  a: BlackbirdColumnExpression<T>, b: some BlackbirdColumnWrappable & Numeric
) -> BlackbirdColumnExpression<T> { a.then("/", b) }
