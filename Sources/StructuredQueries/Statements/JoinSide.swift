/// One side of a join: whose columns there are and how they are decoded.
public protocol JoinSide: Sendable {
  /// The columns as expressions.
  associatedtype Columns: Sendable
  /// What a row of the side is decoded to.
  associatedtype QueryValue: QueryRow
  /// The same side, when it can be missing.
  associatedtype Outer: JoinSide
  /// Returns the columns under a name.
  static func columns(_ scope: ColumnScope) -> Columns
}

/// A side that is there in every row.
public enum InnerSide<T: Table>: JoinSide {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = T
  /// The side when it can be missing.
  public typealias Outer = OuterSide<T>
  /// Returns the columns.
  public static func columns(_ scope: ColumnScope) -> T.TableColumns {
    T.TableColumns(_scope: scope)
  }
}

/// A side of an outer join that can be missing.
public enum OuterSide<T: Table>: JoinSide {
  /// What a row, or the expression, is decoded to.
  public typealias QueryValue = T?
  /// The side when it can be missing.
  public typealias Outer = OuterSide<T>
  /// Returns the columns, each of them optional.
  public static func columns(_ scope: ColumnScope) -> OuterColumns<T> {
    OuterColumns(columns: T.TableColumns(_scope: scope))
  }
}
