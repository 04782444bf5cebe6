/// What a row of a result, or a part of a row, is decoded to: one column, a table's columns, a tuple.
///
/// The type describes how the value is kept; `Output` is what Swift code works with. They are the same for
/// most types and differ for representations, as ``Foundation/Date/UnixTimeRepresentation``.
public protocol QueryRow: Sendable {
  /// The value that Swift code works with.
  associatedtype Output: Sendable
  /// How the value is kept in a table.
  static var columnStorage: ColumnStorage { get }
  /// How many columns the value takes.
  static var columnCount: Int { get }
  /// Returns the value made from the next columns of a row.
  static func decode(from decoder: inout RowDecoder) throws(DecodingFailure) -> Output
  /// Adds the value's columns to a row.
  static func encode(_ output: Output, into encoder: inout RowEncoder)
  /// Whether SQLite would turn the value into NULL, so that an optional of the type may bind it as such.
  static func isNull(_ output: Output) -> Bool
}

extension QueryRow {
  /// False but for floating-point types.
  @inlinable public static func isNull(_ output: Output) -> Bool { false }
}

/// A value that is kept in one column.
public protocol QueryRepresentable: QueryRow {
  /// The same representation without `Optional` around it, so that a nullable column can be compared with
  /// one that is not.
  associatedtype Unwrapped: QueryRepresentable = Self
  /// The type SQLite is told in `CREATE TABLE`.
  static var sqlType: SQLType { get }
  /// Whether NULL is a value of the type.
  static var isNullable: Bool { get }
  /// Returns the value as SQLite stores it.
  static func bind(_ output: Output) throws(BindingFailure) -> SQLValue
}

/// The types that a column can be declared with and that STRICT tables know.
///
/// Source: SQLite, "STRICT Tables", section 2.
public enum SQLType: String, Hashable, Sendable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  case any = "ANY"
}

/// How a value is kept: in one column, or in the columns of a group.
public enum ColumnStorage: Sendable {
  /// One column.
  case column(SQLType, isNullable: Bool)
  /// The columns of a nested struct.
  case group([ColumnDefinition])
}

extension QueryRepresentable {
  /// One.
  @inlinable public static var columnCount: Int { 1 }
  /// One column of the type.
  public static var columnStorage: ColumnStorage { .column(sqlType, isNullable: isNullable) }
  /// False but for optionals.
  public static var isNullable: Bool { false }
  /// Adds the value.
  @inlinable public static func encode(_ output: Output, into encoder: inout RowEncoder) {
    encoder.append(SQLBinding { () throws(BindingFailure) in try bind(output) })
  }
}

extension QueryRow where Self: QueryDecodable, Output == Self {
  /// Returns the value made from the next column.
  public static func decode(from decoder: inout RowDecoder) throws(DecodingFailure) -> Self {
    try decoder.decodeValue()
  }
}

extension QueryBindable {
  /// Any type, unless the conforming type says which.
  public static var sqlType: SQLType { .any }
  /// Returns the value as SQLite stores it.
  @inlinable public static func bind(_ output: Self) throws(BindingFailure) -> SQLValue {
    try output.sqlValue()
  }
}

extension Optional: QueryRow where Wrapped: QueryRow {
  /// The value in Swift.
  public typealias Output = Wrapped.Output?

  /// As the wrapped type, with NULL allowed.
  public static var columnStorage: ColumnStorage {
    switch Wrapped.columnStorage {
    case .column(let type, _): .column(type, isNullable: true)
    case .group(let columns): .group(columns.map(\.nullable))
    }
  }

  /// As the wrapped type.
  @inlinable public static var columnCount: Int { Wrapped.columnCount }

  /// Returns nil when all columns of the value are NULL: the missing side of an outer join.
  @inlinable public static func decode(from decoder: inout RowDecoder) throws(DecodingFailure)
    -> Output
  {
    if try decoder.skipNulls(Wrapped.columnCount, for: Wrapped.self) { return nil }
    return try Wrapped.decode(from: &decoder)
  }

  /// Adds the value, or NULL for each of its columns.
  @inlinable public static func encode(_ output: Output, into encoder: inout RowEncoder) {
    if let output, !Wrapped.isNull(output) {
      Wrapped.encode(output, into: &encoder)
    } else {
      for _ in 0..<Wrapped.columnCount { encoder.append(.value(.null)) }
    }
  }
}

extension Optional: QueryRepresentable where Wrapped: QueryRepresentable {
  /// The representation without `Optional`.
  public typealias Unwrapped = Wrapped.Unwrapped

  /// As the wrapped type.
  public static var sqlType: SQLType { Wrapped.sqlType }
  /// True.
  public static var isNullable: Bool { true }
  /// Returns NULL for nil and for what SQLite keeps as NULL anyway (NaN).
  @inlinable public static func bind(_ output: Wrapped.Output?) throws(BindingFailure) -> SQLValue {
    guard let output, !Wrapped.isNull(output) else { return .null }
    return try Wrapped.bind(output)
  }
}

/// The result of a statement that yields no rows.
public struct NoRow: QueryRow {
  /// The value in Swift.
  public typealias Output = Void
  /// No columns.
  public static var columnStorage: ColumnStorage { .group([]) }
  /// Zero.
  public static var columnCount: Int { 0 }
  /// Reads nothing.
  public static func decode(from decoder: inout RowDecoder) throws(DecodingFailure) {}
  /// Adds nothing.
  public static func encode(_ output: Void, into encoder: inout RowEncoder) {}
}

/// Several parts of a row side by side, decoded to a tuple.
public struct RowTuple<each Part: QueryRow>: QueryRow {
  /// The value in Swift.
  public typealias Output = (repeat (each Part).Output)

  /// The columns of all parts.
  public static var columnStorage: ColumnStorage {
    var columns: [ColumnDefinition] = []
    for part in repeat (each Part).self { columns.append(ColumnDefinition("", part)) }
    return .group(columns)
  }
  /// The sum over the parts.
  public static var columnCount: Int {
    var count = 0
    for part in repeat (each Part).columnCount { count += part }
    return count
  }
  /// Returns the parts in order.
  public static func decode(from decoder: inout RowDecoder) throws(DecodingFailure) -> Output {
    (repeat try (each Part).decode(from: &decoder))
  }
  /// Adds the parts in order.
  public static func encode(_ output: Output, into encoder: inout RowEncoder) {
    repeat (each Part).encode(each output, into: &encoder)
  }
}
