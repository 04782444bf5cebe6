import BoutiqueDB

/// A value that an update computes from the row: `\.$count + 1`, `!\.$isRead`.
///
/// Beside those, an update can have plain values: literals as they are, others by ``value(_:)``. They are held
/// against the column's type, as in an update without expressions.
///
/// ```swift
/// try await Post.update(in: db, set: [\.$count: \.$count + 1, \.$title: "Hi", \.$url: .value(url)], matching: .all)
/// ```
public struct BlackbirdColumnExpression<T: BlackbirdModel>: Sendable {
  private enum Content: Sendable {
    /// What the column's type decides about.
    case plain((any Sendable)?)
    case computed(Result<(sql: String, values: [SQLValue]), any Error>)
  }

  private let content: Content

  init(_ make: () throws -> (sql: String, values: [SQLValue])) {
    content = .computed(Result(catching: make))
  }

  fileprivate init(plain value: (any Sendable)?) { content = .plain(value) }

  /// A plain value, for an update that has both.
  public static func value(_ value: (any Sendable)?) -> Self { Self(plain: value) }

  /// Returns the SQL for a column of a table.
  ///
  /// - Throws: ``BlackbirdModelError/argumentInvalid(type:description:)`` for a plain value that is not of the
  ///   column's type.
  func compiled(
    for column: ModelTable.Column, of table: ModelTable
  ) throws -> (sql: String, values: [SQLValue]) {
    switch content {
    case .plain(let value): ("?", [try table.stored(value, for: column)])
    case .computed(let result): try result.get()
    }
  }

  private func compiled() throws -> (sql: String, values: [SQLValue]) {
    switch content {
    case .plain(let value): ("?", [try ModelArgument.stored(value)])
    case .computed(let result): try result.get()
    }
  }

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

extension BlackbirdColumnExpression: ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral
{
  /// Creates a text.
  public init(stringLiteral value: String) { self.init(plain: value) }
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { self.init(plain: value) }
  /// Creates a number.
  public init(floatLiteral value: Double) { self.init(plain: value) }
  /// Creates true or false.
  public init(booleanLiteral value: Bool) { self.init(plain: value) }
  /// Creates NULL.
  public init(nilLiteral: ()) { self.init(plain: nil) }
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
