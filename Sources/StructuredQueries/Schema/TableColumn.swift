/// Whose columns an expression means: a table's, an alias's, or, when empty, those of the only table.
public struct ColumnScope: Hashable, Sendable {
  @usableFromInline let name: String

  /// Creates the scope of a table or an alias.
  @inlinable public init(_ name: String) { self.name = name }

  /// Returns a column of the scope.
  @inlinable public func column<Root, Value>(_ name: String) -> TableColumn<Root, Value> {
    TableColumn(scope: self, name: name)
  }

  /// Returns a generated column of the scope.
  public func generated<Root, Value>(_ name: String) -> GeneratedColumn<Root, Value> {
    GeneratedColumn(scope: self, name: name)
  }

  /// Returns the columns of a nested struct.
  public func group<Group: Table>(_ type: Group.Type) -> GroupColumns<Group> {
    GroupColumns(columns: Group.TableColumns(_scope: self))
  }
}

/// The columns of a table as properties; as an expression, all of them.
public protocol TableColumnSet: QueryExpression where QueryValue: Table {
  /// Creates the columns of a scope.
  init(_scope: ColumnScope)
  /// Whose columns they are.
  var _scope: ColumnScope { get }
}

extension TableColumnSet {
  /// All columns, separated by commas.
  public var queryFragment: SQLFragment {
    SQLFragment(columnsOf: _scope.name, QueryValue.tableSchema)
  }

  /// The row id.
  ///
  /// Tables WITHOUT ROWID have none.
  public var rowid: SQLQueryExpression<Int64> {
    SQLQueryExpression(fragment: SQLFragment(column: "rowid", of: _scope.name))
  }
}

/// An expression that is a column of a table.
public protocol ColumnExpression: QueryExpression {
  /// The column's name in SQL.
  var name: String { get }
}

/// A column of a table.
public struct TableColumn<Root, QueryValue: QueryRow>: ColumnExpression {
  @usableFromInline let scope: ColumnScope
  /// The column's name in SQL.
  public let name: String

  @inlinable init(scope: ColumnScope, name: String) {
    self.scope = scope
    self.name = name
  }

  /// The qualified name; for a property that is itself a row, all of its columns.
  public var queryFragment: SQLFragment { column(QueryValue.self, scope, name) }
}

/// A column that SQLite computes: it can be read and never written.
public struct GeneratedColumn<Root, QueryValue: QueryRow>: ColumnExpression {
  let scope: ColumnScope
  /// The column's name in SQL.
  public let name: String

  /// The qualified name.
  public var queryFragment: SQLFragment { column(QueryValue.self, scope, name) }
}

private func column<Value: QueryRow>(
  _ type: Value.Type, _ scope: ColumnScope, _ name: String
) -> SQLFragment {
  guard case .group(let columns) = Value.columnStorage else {
    return SQLFragment(column: name, of: scope.name)
  }
  return columns.map { SQLFragment(column: $0.name, of: scope.name) }.joined(", ")
}

/// The columns of the side of an outer join that can be missing: every one can be NULL.
@dynamicMemberLookup
public struct OuterColumns<T: Table>: QueryExpression {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = T?
  let columns: T.TableColumns

  /// All columns.
  public var queryFragment: SQLFragment { columns.queryFragment }

  /// A column, as an optional.
  public subscript<Column: ColumnExpression>(
    dynamicMember keyPath: KeyPath<T.TableColumns, Column>
  ) -> SQLQueryExpression<Column.QueryValue.Unwrapped?>
  where Column.QueryValue: QueryRepresentable {
    SQLQueryExpression(fragment: columns[keyPath: keyPath].queryFragment)
  }

  /// The columns of a nested struct, as an optional.
  public subscript<Group: Table>(
    dynamicMember keyPath: KeyPath<T.TableColumns, GroupColumns<Group>>
  ) -> OuterColumns<Group> {
    OuterColumns<Group>(columns: columns[keyPath: keyPath].columns)
  }
}

/// The columns of a nested struct, as a property of the columns around it.
///
/// A type of its own, and not the struct's `TableColumns`, because the compiler finds the conformances that a
/// macro gives to a struct through the struct.
@dynamicMemberLookup
public struct GroupColumns<Group: Table>: QueryExpression {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = Group
  let columns: Group.TableColumns

  /// All columns.
  public var queryFragment: SQLFragment { columns.queryFragment }

  /// A column.
  public subscript<Member>(dynamicMember keyPath: KeyPath<Group.TableColumns, Member>) -> Member {
    columns[keyPath: keyPath]
  }
}
