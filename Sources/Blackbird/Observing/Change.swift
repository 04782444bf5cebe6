import BoutiqueDB
import Glibc

extension Blackbird {
  /// Who committed a change.
  public enum ChangeOrigin: Hashable, Sendable {
    /// This database of this process.
    case thisProcess
    /// Another process that uses the library, or something else in this process that has the file open: a
    /// `BoutiqueDB` or a `Store` on it (``isOfThisProcess``).
    case process(pid: Int32, label: String)
    /// A program without it, such as the `sqlite3` shell, or one that could not be told.
    case foreign
    /// Several of these: changes were put together for a receiver that was slow.
    case several

    /// Whether this process committed it, through this database or something else that has the file open.
    ///
    /// Programs whose process numbers are of different namespaces (containers) can have the same number.
    public var isOfThisProcess: Bool {
      switch self {
      case .thisProcess: true
      case .process(let pid, _): pid == getpid()
      case .foreign, .several: false
      }
    }
  }

  /// What one commit changed in one table.
  ///
  /// It may say more than the truth, never less: where rows or columns are not known one by one, all of them
  /// count as changed.
  public struct Change: Sendable, Hashable {
    /// The table.
    public let table: String
    /// Who committed it.
    public let origin: ChangeOrigin
    /// The keys of the changed rows; nil when any row may have changed.
    public let primaryKeys: PrimaryKeyValues?
    /// The columns whose values changed; nil when any may have.
    ///
    /// A row that came or went changed in all of its columns.
    public let columnNames: ColumnNames?

    /// Whether the row with a primary key of one column may have changed.
    ///
    /// - Parameter key: the key as the model has it: an `Int`, a `String`, a `UUID`, …
    public func hasPrimaryKeyChanged(_ key: any Sendable) -> Bool {
      hasMulticolumnPrimaryKeyChanged([key])
    }

    /// Whether the row with a primary key of several columns may have changed.
    public func hasMulticolumnPrimaryKeyChanged(_ key: [any Sendable]) -> Bool {
      guard let primaryKeys, let values = RowKeyValues.of(key) else { return true }
      return primaryKeys.contains(values)
    }

    /// Whether a column may have changed in any row.
    public func hasColumnChanged(_ name: String) -> Bool {
      guard let columnNames else { return true }
      return columnNames.contains(name)
        || columnNames.contains { $0.lowercased() == name.lowercased() }
    }
  }

  /// What one commit changed in the table of a model; as ``Change``, by key path.
  public struct ModelChange<T: BlackbirdModel>: Sendable, Hashable {
    /// The change of the table.
    public let change: Change

    /// The model.
    public var type: T.Type { T.self }
    /// Who committed it.
    public var origin: ChangeOrigin { change.origin }
    /// The keys of the changed rows; nil when any row may have changed.
    public var changedPrimaryKeys: PrimaryKeyValues? { change.primaryKeys }
    /// The columns whose values changed; nil when any may have.
    public var columnNames: ColumnNames? { change.columnNames }

    /// Whether the row with a primary key of one column may have changed.
    public func hasPrimaryKeyChanged(_ key: any Sendable) -> Bool {
      change.hasPrimaryKeyChanged(key)
    }

    /// Whether the row with a primary key of several columns may have changed.
    public func hasMulticolumnPrimaryKeyChanged(_ key: [any Sendable]) -> Bool {
      change.hasMulticolumnPrimaryKeyChanged(key)
    }

    /// Whether a column may have changed in any row.
    public func hasColumnChanged(_ keyPath: T.BlackbirdColumnKeyPath) -> Bool {
      guard let name = try? T.table.name(of: keyPath) else { return true }
      return change.hasColumnChanged(name)
    }

    /// Whether a column may have changed in any row.
    public func hasColumnChanged(_ name: String) -> Bool { change.hasColumnChanged(name) }
  }
}

extension Blackbird.Change {
  /// How many keys are told one by one when changes are put together.
  private static let keyLimit = 10_000

  /// What a receiver is told who was slow: this change and a later one as one.
  func merged(with later: Self) -> Self {
    var keys = primaryKeys
    if let more = later.primaryKeys { keys?.formUnion(more) } else { keys = nil }
    if let found = keys, found.count > Self.keyLimit { keys = nil }
    var columns = columnNames
    if let more = later.columnNames { columns?.formUnion(more) } else { columns = nil }
    return Self(
      table: table, origin: origin == later.origin ? origin : .several, primaryKeys: keys,
      columnNames: columns)
  }
}

/// Keys in the one form in which equal ones are equal.
enum RowKeyValues {
  /// Returns a key's values; nil where one has no form in the database.
  static func of(_ key: [any Sendable]) -> [Blackbird.Value]? {
    try? normal(key.map { try ModelArgument.stored($0) })
  }

  static func normal(_ key: [SQLValue]) -> [Blackbird.Value] {
    key.map { normal(Blackbird.Value($0)) }
  }

  /// A whole number is an integer, whatever the column makes of it.
  static func normal(_ value: Blackbird.Value) -> Blackbird.Value {
    if case .double(let number) = value, let whole = Int64(exactly: number) {
      return .integer(whole)
    }
    return value
  }
}
