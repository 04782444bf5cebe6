/// What `CREATE TABLE` says about a table beyond its columns.
public struct TableOptions: Sendable {
  let isStrict: Bool
  let isWithoutRowID: Bool
  let checks: [String]
  let unique: [[String]]
  let foreignKeys: [TableForeignKey]
  let indexes: [TableIndex]

  /// Creates options.
  ///
  /// - Parameters:
  ///   - strict: SQLite refuses values of other types than declared.
  ///   - withoutRowID: the table is kept by its primary key.
  ///   - checks: conditions in SQL over several columns.
  ///   - unique: lists of columns that are unique together.
  ///   - foreignKeys: references of several columns.
  ///   - indexes: what `createIndexes()` makes.
  public init(
    strict: Bool = false, withoutRowID: Bool = false, checks: [String] = [],
    unique: [[String]] = [], foreignKeys: [TableForeignKey] = [], indexes: [TableIndex] = []
  ) {
    isStrict = strict
    isWithoutRowID = withoutRowID
    self.checks = checks
    self.unique = unique
    self.foreignKeys = foreignKeys
    self.indexes = indexes
  }
}

/// A reference of one column to another table.
public struct ForeignKey: Sendable {
  /// What happens to a row when the row that it refers to changes.
  public enum Action: String, Sendable {
    case cascade = "CASCADE"
    case restrict = "RESTRICT"
    case setNull = "SET NULL"
    case setDefault = "SET DEFAULT"
    case noAction = "NO ACTION"
  }

  // Asked for late: two tables may refer to each other.
  private let table: @Sendable () -> String
  private let columns: [String]
  private let onDelete: Action?
  private let onUpdate: Action?
  private let isDeferred: Bool

  /// Creates a reference.
  ///
  /// - Parameters:
  ///   - columns: the columns referred to; none means the primary key.
  ///   - deferred: whether it is checked at the commit only.
  public init<T: Table>(
    _ table: T.Type, _ columns: String..., onDelete: Action? = nil, onUpdate: Action? = nil,
    deferred: Bool = false
  ) {
    self.init(
      { T.tableName }, columns, onDelete: onDelete, onUpdate: onUpdate, deferred: deferred)
  }

  init(
    _ table: @escaping @Sendable () -> String, _ columns: [String], onDelete: Action?,
    onUpdate: Action?, deferred: Bool
  ) {
    self.table = table
    self.columns = columns
    self.onDelete = onDelete
    self.onUpdate = onUpdate
    isDeferred = deferred
  }

  var sql: String {
    var sql = "REFERENCES \(quoted(identifier: table()))"
    if !columns.isEmpty { sql += " (\(list(columns)))" }
    if let onDelete { sql += " ON DELETE \(onDelete.rawValue)" }
    if let onUpdate { sql += " ON UPDATE \(onUpdate.rawValue)" }
    if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
    return sql
  }
}

/// A reference of several columns to another table.
public struct TableForeignKey: Sendable {
  private let columns: [String]
  private let reference: ForeignKey

  /// Creates a reference from columns of this table to as many of another.
  public init<T: Table>(
    _ columns: [String], references table: T.Type, _ targets: [String] = [],
    onDelete: ForeignKey.Action? = nil, onUpdate: ForeignKey.Action? = nil, deferred: Bool = false
  ) {
    self.columns = columns
    reference = ForeignKey(
      { T.tableName }, targets, onDelete: onDelete, onUpdate: onUpdate, deferred: deferred)
  }

  var sql: String { "FOREIGN KEY (\(list(columns))) \(reference.sql)" }
}

/// An index that `createIndexes()` makes.
public struct TableIndex: Sendable {
  let columns: [String]
  let isUnique: Bool
  let condition: String?
  let name: String?

  /// Creates an index over columns.
  ///
  /// - Parameters:
  ///   - condition: SQL; rows that do not meet it are left out of the index.
  ///   - name: the name; by default made of the table's and the columns' names.
  public init(
    _ columns: String..., unique: Bool = false, where condition: String? = nil,
    name: String? = nil
  ) {
    self.init(columns: columns, isUnique: unique, condition: condition, name: name)
  }

  init(columns: [String], isUnique: Bool, condition: String?, name: String?) {
    self.columns = columns
    self.isUnique = isUnique
    self.condition = condition
    self.name = name
  }
}

func list(_ names: [String]) -> String {
  names.map(quoted(identifier:)).joined(separator: ", ")
}
