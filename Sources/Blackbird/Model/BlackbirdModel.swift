/// A type whose instances are the rows of a table.
///
/// ```swift
/// struct Post: BlackbirdModel {
///   static let indexes: [[BlackbirdColumnKeyPath]] = [[\.$title]]
///
///   @BlackbirdColumn var id: Int
///   @BlackbirdColumn var title: String
///   @BlackbirdColumn var url: URL?
/// }
/// ```
///
/// The table is made from the type when it is first used with a database, and altered when the type has
/// changed since. Every call waits for no thread of Swift's cooperative pool; those whose names end in
/// `Isolated` are for the inside of ``Blackbird/Database/transaction(_:)``.
public protocol BlackbirdModel: Codable, Equatable, Identifiable, Hashable, Sendable {
  /// The key path to a column's wrapper: `\.$title`.
  typealias BlackbirdColumnKeyPath = any PartialKeyPath<Self> & Sendable

  /// The columns of a full-text index: `[\.$title: .text(weight: 2), \.$state: .filterOnly]`.
  typealias FullTextIndex = BlackbirdFullTextIndex<Self>

  /// The table's name; the type's name unless said otherwise.
  static var tableName: String { get }
  /// The columns of the primary key; the column `id` when empty.
  static var primaryKey: [BlackbirdColumnKeyPath] { get }
  /// The columns of each index beside the primary key's.
  static var indexes: [[BlackbirdColumnKeyPath]] { get }
  /// The columns of each index whose values, together, occur once; NULL is equal to nothing.
  static var uniqueIndexes: [[BlackbirdColumnKeyPath]] { get }
  /// The columns of the full-text index, and how each takes part in it; none for no index.
  static var fullTextSearchableColumns: FullTextIndex { get }
  /// What happens to rows whose values cannot be taken over when the table is altered.
  static var invalidRowDataMigrationResolution: BlackbirdInvalidRowDataMigrationResolution { get }
  /// What happens to the values of a column that the type has no more.
  static var droppedColumnDataResolution: BlackbirdDroppedColumnDataResolution { get }
  /// How many instances and results the database remembers for this type; 0 for none.
  static var cacheLimit: Int { get }
}

/// What happens to rows whose values cannot be taken over when a table is altered.
///
/// It is about rows that hold a value, or a NULL, that does not fit. A new column for which no row has a value
/// is refused whatever is said here: it would empty the table.
public enum BlackbirdInvalidRowDataMigrationResolution: Sendable {
  /// Nothing is altered, and ``BlackbirdTableError/impossibleMigration(type:table:description:)`` is thrown.
  case throwError
  /// These rows are deleted.
  case deleteData
}

/// What happens to the values of a column that a model has no more.
public enum BlackbirdDroppedColumnDataResolution: Sendable {
  /// Nothing is altered while there are any, and ``BlackbirdTableError/impossibleMigration(type:table:description:)`` is
  /// thrown.
  case throwError
  /// They are deleted with the column.
  case deleteData
}

extension BlackbirdModel {
  /// The type's name.
  public static var tableName: String { String(describing: Self.self) }
  /// The column `id`.
  public static var primaryKey: [BlackbirdColumnKeyPath] { [] }
  /// None.
  public static var indexes: [[BlackbirdColumnKeyPath]] { [] }
  /// None.
  public static var uniqueIndexes: [[BlackbirdColumnKeyPath]] { [] }
  /// None.
  public static var fullTextSearchableColumns: FullTextIndex { [:] }
  /// An error.
  public static var invalidRowDataMigrationResolution: BlackbirdInvalidRowDataMigrationResolution {
    .throwError
  }
  /// An error.
  public static var droppedColumnDataResolution: BlackbirdDroppedColumnDataResolution {
    .throwError
  }
  /// None.
  public static var cacheLimit: Int { 0 }

  /// The values of the primary key.
  public var id: [AnyHashable] {
    Self.primaryKey.compactMap { (self[keyPath: $0] as? any AnyBlackbirdColumn)?.hashableValue }
  }

  /// Feeds the primary key.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// The description of the table that the type has.
  ///
  /// - Throws: ``BlackbirdTableError/invalidModel(type:description:)``.
  static var table: ModelTable { get throws { try ModelTables.table(of: Self.self) } }

  /// Returns an instance whose columns have the values that new columns get: zero, empty, nil.
  ///
  /// - Throws: ``BlackbirdTableError/invalidModel(type:description:)`` where a column has no such value.
  public static func instanceFromDefaults() throws -> Self {
    do {
      return try Self(from: BlackbirdDefaultsDecoder())
    } catch {
      throw BlackbirdTableError.invalidModel(
        type: String(describing: Self.self), description: "it has no default values: \(error)")
    }
  }
}
