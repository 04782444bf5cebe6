/// A struct whose values are rows of a table.
///
/// `@Table` writes the conformance.
public protocol Table: QueryRow where Output == Self {
  /// The columns, as expressions.
  associatedtype TableColumns: TableColumnSet where TableColumns.QueryValue == Self
  /// The table's name, columns and options.
  static var tableSchema: TableSchema { get }
  /// Creates a value from a row that holds the table's columns in order.
  init(decoder: inout RowDecoder) throws(DecodingFailure)
  /// Adds the values of all columns that can be written, in order.
  func encodeColumns(into encoder: inout RowEncoder)
}

extension Table {
  /// The table's name in SQL.
  public static var tableName: String { tableSchema.name }
  /// The table's columns, qualified with its name.
  public static var columns: TableColumns { TableColumns(_scope: ColumnScope(tableName)) }
  /// The columns without the table's name, for RETURNING, SET and upserts.
  static var bareColumns: TableColumns { TableColumns(_scope: ColumnScope("")) }

  /// The number of columns.
  public static var columnCount: Int { tableSchema.columns.count }
  /// A group of the table's columns.
  public static var columnStorage: ColumnStorage { .group(tableSchema.columns) }
  /// Returns the value made from the next columns.
  @inlinable public static func decode(
    from decoder: inout RowDecoder
  ) throws(DecodingFailure) -> Self {
    try Self(decoder: &decoder)
  }
  /// Adds the columns of a value.
  @inlinable public static func encode(_ output: Self, into encoder: inout RowEncoder) {
    output.encodeColumns(into: &encoder)
  }
}

/// A table with a primary key.
public protocol PrimaryKeyedTable: Table {
  /// The key: a value, or a tuple for a key of several columns.
  associatedtype PrimaryKey: Sendable
  /// Adds the columns of a key.
  static func encodeKey(_ key: PrimaryKey, into encoder: inout RowEncoder)
}

/// A table with a primary key of one column, which a draft can leave open.
public protocol DraftableTable: PrimaryKeyedTable {
  /// A row before it has a key.
  associatedtype Draft: TableDraft where Draft.Model == Self
}

/// A row before it has a key: the table's columns with an optional key.
public protocol TableDraft: Sendable {
  /// The table.
  associatedtype Model: Table
  /// Adds the values of all columns that can be written, in the table's order.
  func encodeColumns(into encoder: inout RowEncoder)
}
