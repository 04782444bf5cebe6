/// The rows of one table that meet conditions: to be read, updated or deleted.
public struct Where<T: Table>: SelectStatement {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = T
  private var rows: Rows

  /// Which rows are meant; the clauses are made only where they are more than those of a key.
  private enum Rows: Sendable {
    case key([SQLBinding])
    indirect case clauses(SelectBody)
  }

  init(alias: String? = nil) { rows = .clauses(SelectBody(T.tableSchema, alias: alias)) }

  /// Creates the statement of the row of a key.
  @usableFromInline
  init(key: RowEncoder) { rows = .key(key.bindings) }

  init(key: [SQLBinding]) { rows = .key(key) }

  var body: SelectBody {
    get {
      switch rows {
      case .key(let key): SelectBody(T.tableSchema, key: key)
      case .clauses(let body): body
      }
    }
    set { rows = .clauses(newValue) }
  }

  /// The values of the key that the statement is limited to; nil when it is limited in another way.
  var key: [SQLBinding]? {
    if case .key(let key) = rows { key } else { nil }
  }

  /// The name by which columns are qualified.
  @usableFromInline
  var scope: ColumnScope {
    switch rows {
    case .key: ColumnScope(T.tableName)
    case .clauses(let body): ColumnScope(body.scopes[0])
    }
  }

  /// The SQL of reading the rows.
  public var query: SQLFragment {
    if let key, let template = T.tableSchema.templates.find { return SQLFragment(template, key) }
    return body.fragment
  }
  /// The SQL of the number of rows.
  public var countQuery: SQLFragment { body.countFragment }

  /// A SELECT of the rows.
  public func asSelect() -> Select<T, InnerSide<T>, WholeRows> {
    Select<T, InnerSide<T>, WholeRows>(body: body)
  }

  private var columns: T.TableColumns {
    T.TableColumns(_scope: scope)
  }

  /// Adds conditions; all must hold.
  public func `where`(
    @PredicateBuilder _ predicate: (T.TableColumns) -> [SQLFragment]
  ) -> Where<T> {
    var copy = self
    copy.body.predicates += predicate(columns)
    return copy
  }

  /// Adds a condition: the column is true.
  public func `where`<E: QueryExpression<Bool>>(_ column: KeyPath<T.TableColumns, E>) -> Where<T> {
    self.where { $0[keyPath: column] }
  }

  /// The rows that meet these conditions and the other's.
  public func and(_ other: Where<T>) -> Where<T> {
    var copy = self
    copy.body.predicates += other.body.predicates
    copy.body.isNone = body.isNone || other.body.isNone
    return copy
  }

  /// The rows that meet these conditions or the other's.
  ///
  /// Without conditions on one side, the other's.
  public func or(_ other: Where<T>) -> Where<T> {
    if other.body.isNone { return self }
    if body.isNone { return other }
    guard !other.body.predicates.isEmpty else { return self }
    guard !body.predicates.isEmpty else { return other }
    var copy = self
    copy.body.predicates = [
      [body.predicates.conjunction, other.body.predicates.conjunction].connected(" OR ")
    ]
    return copy
  }

  /// The rows that do not meet the conditions.
  ///
  /// Without conditions, no rows.
  public func not() -> Where<T> {
    var copy = self
    copy.body.predicates =
      body.predicates.isEmpty ? ["0"] : ["(NOT \(body.predicates.conjunction))"]
    return copy
  }

  /// Adds expressions to order by.
  public func order(
    @ExpressionListBuilder _ terms: (T.TableColumns) -> [SQLFragment]
  ) -> Select<T, InnerSide<T>, WholeRows> { asSelect().order(terms) }

  /// Adds a column to order by.
  public func order<E: QueryExpression>(
    by column: KeyPath<T.TableColumns, E>
  ) -> Select<T, InnerSide<T>, WholeRows> { asSelect().order { $0[keyPath: column] } }

  /// Says what the rows consist of.
  public func select<Value: QueryRow>(
    @SelectionBuilder _ selection: (T.TableColumns) -> SelectedColumns<Value>
  ) -> Select<Value, InnerSide<T>, ChosenColumns> { asSelect().select(selection) }

  /// Adds expressions to group by.
  public func group(
    @ExpressionListBuilder _ terms: (T.TableColumns) -> [SQLFragment]
  ) -> Select<T, InnerSide<T>, WholeRows> { asSelect().group(terms) }

  /// Adds a column to group by.
  public func group<E: QueryExpression>(
    by column: KeyPath<T.TableColumns, E>
  ) -> Select<T, InnerSide<T>, WholeRows> { asSelect().group { $0[keyPath: column] } }

  /// Leaves out rows that are there already.
  public func distinct() -> Select<T, InnerSide<T>, WholeRows> { asSelect().distinct() }

  /// Limits the number of rows; nil changes nothing.
  public func limit(_ count: Int?, offset: Int? = nil) -> Select<T, InnerSide<T>, WholeRows> {
    asSelect().limit(count, offset: offset)
  }

  /// Passes over rows; nil changes nothing.
  public func offset(_ count: Int?) -> Select<T, InnerSide<T>, WholeRows> {
    asSelect().offset(count)
  }

  /// Selects the number of rows.
  public func count(
    filter: ((T.TableColumns) -> any QueryExpression<Bool>)? = nil
  ) -> Select<Int, InnerSide<T>, ChosenColumns> {
    select { $0.count(filter: filter?($0)) }
  }
}
