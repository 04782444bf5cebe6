/// Collects the assignments of an UPDATE, in either spelling: `$0.isArchived = true` and
/// `$0.isArchived.set(true)`.
@dynamicMemberLookup
public struct Updates<Columns: TableColumnSet> {
  @usableFromInline let list: AssignmentList
  @usableFromInline let columns: Columns

  @usableFromInline
  init(list: AssignmentList, columns: Columns) {
    self.list = list
    self.columns = columns
  }

  /// A column, to be set, added to, or read in an expression.
  public subscript<Root, Value: QueryRow>(
    dynamicMember keyPath: KeyPath<Columns, TableColumn<Root, Value>>
  ) -> UpdatableColumn<Value> {
    get {
      UpdatableColumn(name: columns[keyPath: keyPath].name, columns: columns._scope, list: list)
    }
    // What the operators changed is in the list already.
    set {}
  }

  /// A column, to be assigned an expression.
  @_disfavoredOverload
  public subscript<Root, Value: QueryRow>(
    dynamicMember keyPath: KeyPath<Columns, TableColumn<Root, Value>>
  ) -> any QueryExpression<Value> {
    @available(*, unavailable, message: "write .set(…) with an expression")
    get { columns[keyPath: keyPath] }
    set { list.append(columns[keyPath: keyPath].name, newValue.queryFragment) }
  }

  /// A column, to be assigned a value.
  @_disfavoredOverload
  @inlinable
  public subscript<Root, Value: QueryRepresentable>(
    dynamicMember keyPath: KeyPath<Columns, TableColumn<Root, Value>>
  ) -> Value.Output {
    @available(*, unavailable, message: "write .set(…) with an expression")
    get { preconditionFailure("an assignment cannot be read") }
    set {
      list.append(
        columns[keyPath: keyPath].name,
        SQLBinding { () throws(BindingFailure) in try Value.bind(newValue) })
    }
  }

  /// The columns of a nested struct.
  public subscript<Group: Table>(
    dynamicMember keyPath: KeyPath<Columns, GroupColumns<Group>>
  ) -> Updates<Group.TableColumns> {
    get { Updates<Group.TableColumns>(list: list, columns: columns[keyPath: keyPath].columns) }
    set {}
  }
}

/// The assignments so far; shared by the columns that add to it, and used by one closure only.
@usableFromInline
final class AssignmentList {
  private(set) var assignments: [Assignment] = []

  @usableFromInline
  init() {}

  func append(_ name: String, _ value: SQLFragment) {
    assignments.append(Assignment(name: name, value: .expression(value)))
  }

  @usableFromInline
  func append(_ name: String, _ value: SQLBinding) {
    assignments.append(Assignment(name: name, value: .value(value)))
  }
}

/// What an UPDATE gives to one column.
struct Assignment: Sendable {
  enum Value: Sendable {
    case value(SQLBinding)
    case expression(SQLFragment)
  }

  var name: String
  var value: Value

  var fragment: SQLFragment {
    var result = SQLFragment(identifier: name)
    result.append(sql: " = ")
    switch value {
    case .value(let binding): result.append(binding)
    case .expression(let expression): result.append(expression)
    }
    return result
  }
}

/// A column in an UPDATE.
public struct UpdatableColumn<QueryValue: QueryRow>: QueryExpression {
  let name: String
  let columns: ColumnScope
  // The list is not shared beyond the closure that builds the statement.
  nonisolated(unsafe) let list: AssignmentList

  /// The column's value before the update.
  public var queryFragment: SQLFragment { SQLFragment(column: name, of: columns.name) }
}

extension UpdatableColumn where QueryValue: QueryRepresentable {
  /// Assigns a value.
  public func set(_ value: QueryValue.Output) {
    list.append(name, SQLBinding { () throws(BindingFailure) in try QueryValue.bind(value) })
  }

  /// Assigns an expression.
  public func set<E: QueryExpression>(_ expression: E)
  where E.QueryValue: QueryRepresentable, E.QueryValue.Unwrapped == QueryValue.Unwrapped {
    list.append(name, expression.queryFragment)
  }
}

extension UpdatableColumn where QueryValue: QueryRepresentable, QueryValue.Unwrapped == Bool {
  /// Turns true into false and false into true.
  public func toggle() { list.append(name, "(NOT \(queryFragment))") }
}

extension UpdatableColumn where QueryValue: QueryRepresentable, QueryValue.Unwrapped == String {
  /// Adds text to the end.
  public func append(_ text: String) { list.append(name, "(\(queryFragment) || \(text))") }
}

extension UpdatableColumn
where QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable {
  /// Adds a number, or a text to the end.
  public static func += (left: inout Self, right: QueryValue.Output) {
    left.list.append(
      left.name, left.binary(plus(QueryValue.self), left.bound(right)))
  }
  /// Adds an expression.
  public static func += (left: inout Self, right: some QueryExpression<QueryValue>) {
    left.list.append(
      left.name, left.binary(plus(QueryValue.self), right.queryFragment))
  }
}

extension UpdatableColumn
where
  QueryValue: QueryRepresentable, QueryValue.Unwrapped: QueryAddable,
  QueryValue.Unwrapped.Output: Numeric
{
  /// Subtracts a number.
  public static func -= (left: inout Self, right: QueryValue.Output) {
    left.list.append(left.name, left.binary(" - ", left.bound(right)))
  }
  /// Multiplies by a number.
  public static func *= (left: inout Self, right: QueryValue.Output) {
    left.list.append(left.name, left.binary(" * ", left.bound(right)))
  }
  /// Divides by a number.
  public static func /= (left: inout Self, right: QueryValue.Output) {
    left.list.append(left.name, left.binary(" / ", left.bound(right)))
  }
}
