import BoutiqueDB
import Synchronization

/// The table of a model: its columns in the order of the properties, its keys and indexes.
///
/// Made once for each type, and never changed; what a database has instead is `StoredTable`.
final class ModelTable: Sendable {
  /// A column.
  struct Column: Sendable {
    let name: String
    let type: Blackbird.ColumnType
    let isOptional: Bool
    let valueType: any BlackbirdColumnWrappable.Type
    /// What rows that are there already get in it; nil where no such value fits the type.
    let newValue: SQLValue?

    /// Whether a stored value fits the type.
    func accepts(_ value: SQLValue) -> Bool { Self.accepts(value, valueType) }

    private static func accepts<Value: BlackbirdColumnWrappable>(
      _ value: SQLValue, _ type: Value.Type
    ) -> Bool { Value._restored(value) != nil }
  }

  /// An index beside that of the primary key.
  struct Index: Sendable, Hashable {
    let columns: [String]
    let isUnique: Bool
  }

  /// A key under which a model codes something.
  struct PlannedKey: Sendable {
    let key: String
    /// The column; -1 for what is none.
    let column: Int
    /// Whether the model asks for the wrapper and not for its value.
    let isWrapper: Bool
  }

  /// The name of the model's type, for errors.
  let typeName: String
  let typeID: ObjectIdentifier
  let name: String
  let columns: [Column]
  let columnIndex: [String: Int]
  /// The columns of the primary key, as indices.
  let primaryKey: [Int]
  /// Whether the primary key is the column `id` alone.
  let isKeyedByID: Bool
  let indexes: [Index]
  /// The columns that are searched, in the order of their names.
  let searchedColumns: [SearchedColumn]
  let allowsInvalidRowDeletion: Bool
  let allowsColumnDataDeletion: Bool
  /// The keys in the order in which the model decodes them.
  let decodingPlan: [PlannedKey]
  /// Whether decoding makes every column's wrapper.
  let decodesEveryColumn: Bool
  /// The keys in the order in which the model encodes them; empty where it does not encode every column.
  let encodingPlan: [PlannedKey]
  /// The texts of the statements that are used again and again.
  let statements: ModelStatements

  private let resolve: @Sendable (AnyKeyPath) -> Int?
  private let keyPaths = Mutex<[ColumnKeyPath: Int]>([:])

  init<Model: BlackbirdModel>(of model: Model.Type) throws {
    let typeName = String(describing: model)
    let defaults = BlackbirdDefaultsDecoder()
    let prototype: Model
    do {
      prototype = try Model(from: defaults)
    } catch {
      throw BlackbirdTableError.invalidModel(
        type: typeName, description: "it cannot be decoded from default values: \(error)")
    }
    let found = Self.reflect(prototype)
    guard !found.isEmpty else {
      throw BlackbirdTableError.invalidModel(
        type: typeName, description: "it has no property with @BlackbirdColumn")
    }
    // Every column of the prototype has an origin of its own, by which key paths and keys are told apart.
    let byOrigin = Dictionary(
      found.enumerated().map { (ObjectIdentifier($1.column.origin), $0) },
      uniquingKeysWith: { a, _ in a })
    let columns = found.map { Self.column($0.name, type(of: $0.column).valueType) }
    let columnIndex = Dictionary(
      columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { a, _ in a })
    let resolve: @Sendable (AnyKeyPath) -> Int? = { path in
      (prototype[keyPath: path] as? any AnyBlackbirdColumn).flatMap {
        byOrigin[ObjectIdentifier($0.origin)]
      }
    }
    func index(_ path: AnyKeyPath) throws -> Int {
      guard let index = resolve(path) else {
        throw BlackbirdTableError.notAColumn(type: typeName, keyPath: String(describing: path))
      }
      return index
    }

    self.typeName = typeName
    typeID = ObjectIdentifier(model)
    name = Model.tableName
    self.columns = columns
    self.columnIndex = columnIndex
    self.resolve = resolve
    allowsInvalidRowDeletion = Model.invalidRowDataMigrationResolution == .deleteData
    allowsColumnDataDeletion = Model.droppedColumnDataResolution == .deleteData

    let declared = try Model.primaryKey.map { try index($0) }
    primaryKey = try Self.primaryKey(declared, columnIndex, typeName)
    isKeyedByID = primaryKey.map { columns[$0].name } == ["id"]
    try Self.check(name, columns, primaryKey, typeName)
    indexes = try Self.indexes(
      try Model.indexes.map { try $0.map { columns[try index($0)].name } },
      try Model.uniqueIndexes.map { try $0.map { columns[try index($0)].name } },
      primaryKey.map { columns[$0].name }, typeName)

    searchedColumns = try Model.fullTextSearchableColumns.columns
      .filter(\.value.isIndexed)
      .map { SearchedColumn(name: columns[try index($0.key)].name, weight: $0.value.weight) }
      .sorted { $0.name < $1.name }

    decodingPlan = defaults.requests.map { request in
      if let origin = request.origin, let index = byOrigin[ObjectIdentifier(origin)] {
        return PlannedKey(key: request.key, column: index, isWrapper: true)
      }
      return PlannedKey(
        key: request.key, column: columnIndex[request.name] ?? -1, isWrapper: false)
    }
    decodesEveryColumn =
      Set(decodingPlan.filter(\.isWrapper).map(\.column)).count == columns.count
    let recorder = EncodingRecorder()
    try? prototype.encode(to: recorder)
    let encoding = recorder.keys.map { key, origin in
      PlannedKey(
        key: key, column: origin.flatMap { byOrigin[ObjectIdentifier($0)] } ?? -1, isWrapper: true)
    }
    let encodesAll = Set(encoding.map(\.column)).subtracting([-1]).count == columns.count
    encodingPlan = encodesAll ? encoding : []
    statements = ModelStatements(
      table: name, columns: columns.map(\.name), primaryKey: primaryKey)
  }

  /// The primary key's columns.
  var primaryKeyColumns: [Column] { primaryKey.map { columns[$0] } }

  /// The names of the primary key's columns.
  var primaryKeyNames: [String] { primaryKey.map { columns[$0].name } }

  // MARK: Key paths

  /// Returns the index of the column that a key path leads to.
  ///
  /// - Throws: ``BlackbirdTableError/notAColumn(type:keyPath:)``.
  func index(of path: AnyKeyPath) throws -> Int {
    let key = ColumnKeyPath(path: path)
    if let known = keyPaths.withLock({ $0[key] }) { return known }
    guard let index = resolve(path) else {
      throw BlackbirdTableError.notAColumn(type: typeName, keyPath: String(describing: path))
    }
    keyPaths.withLock { $0[key] = index }
    return index
  }

  /// Returns the column that a key path leads to.
  func column(_ path: AnyKeyPath) throws -> Column { columns[try index(of: path)] }

  /// Returns the name of the column that a key path leads to.
  func name(of path: AnyKeyPath) throws -> String { columns[try index(of: path)].name }

  // MARK: Instances

  /// Returns the wrappers of an instance, in the order of the columns.
  func columns(of instance: some BlackbirdModel) -> [any AnyBlackbirdColumn] {
    Self.reflect(instance).map(\.column)
  }

  private static func reflect(
    _ instance: some BlackbirdModel
  ) -> [(name: String, column: any AnyBlackbirdColumn)] {
    Mirror(reflecting: instance).children.compactMap { label, value in
      guard let label, let column = value as? any AnyBlackbirdColumn else { return nil }
      return (label.hasPrefix("_") ? String(label.dropFirst()) : label, column)
    }
  }

  // MARK: Making

  private static func column(
    _ name: String, _ type: any BlackbirdColumnWrappable.Type
  ) -> Column {
    Column(
      name: name, type: type.columnType, isOptional: type._isOptional, valueType: type,
      newValue: type._newColumnValue)
  }

  private static func primaryKey(
    _ declared: [Int], _ columns: [String: Int], _ typeName: String
  ) throws -> [Int] {
    guard declared.isEmpty else {
      guard Set(declared).count == declared.count else {
        throw BlackbirdTableError.invalidModel(
          type: typeName, description: "its primaryKey has a column twice")
      }
      return declared
    }
    guard let id = columns["id"] else {
      throw BlackbirdTableError.invalidModel(
        type: typeName, description: "it has neither a primaryKey nor a column named id")
    }
    return [id]
  }

  private static func check(
    _ name: String, _ columns: [Column], _ primaryKey: [Int], _ typeName: String
  ) throws {
    func refuse(_ description: String) -> BlackbirdTableError {
      .invalidModel(type: typeName, description: description)
    }
    if name.isEmpty || name.utf8.contains(0) {
      throw refuse("its tableName is empty or has a NUL in it")
    }
    // ASCII letters of either case are one to SQLite.
    let small = name.lowercased()
    if small.hasPrefix("sqlite_") || LibraryTables.contain(small) {
      throw refuse("its tableName \(name) is reserved for SQLite or this library")
    }
    if let column = primaryKey.map({ columns[$0] }).first(where: \.isOptional) {
      throw refuse(
        "its primary key has the optional column \(column.name); rows without a key could not be told apart"
      )
    }
    var seen: [SQLValue: String] = [:]
    for column in columns {
      if let other = seen.updateValue(column.name, forKey: .text(column.name.asciiLowercased)) {
        throw refuse("its columns \(other) and \(column.name) are one column to SQLite")
      }
    }
  }

  private static func indexes(
    _ plain: [[String]], _ unique: [[String]], _ primaryKey: [String], _ typeName: String
  ) throws -> [Index] {
    var seen: Set<[String]> = []
    func checked(_ columns: [String], _ isUnique: Bool) throws -> Index {
      let text = columns.joined(separator: ", ")
      guard !columns.isEmpty, Set(columns).count == columns.count else {
        throw BlackbirdTableError.invalidModel(
          type: typeName, description: "the index (\(text)) is empty or has a column twice")
      }
      guard columns != primaryKey else {
        throw BlackbirdTableError.invalidModel(
          type: typeName,
          description: "the index (\(text)) is that of the primary key, which is always there")
      }
      guard seen.insert(columns).inserted else {
        throw BlackbirdTableError.invalidModel(
          type: typeName,
          description: "the index (\(text)) stands twice in indexes and uniqueIndexes")
      }
      return Index(columns: columns, isUnique: isUnique)
    }
    return try plain.map { try checked($0, false) } + unique.map { try checked($0, true) }
  }
}

/// A key path to a column as a key of a dictionary.
///
/// `@unchecked Sendable`: key paths never change, and one to a column captures nothing.
private struct ColumnKeyPath: Hashable, @unchecked Sendable {
  let path: AnyKeyPath
}

/// The tables of the models that this process has used.
enum ModelTables {
  private static let tables = Mutex<[ObjectIdentifier: ModelTable]>([:])

  /// Returns the table of a model.
  ///
  /// - Throws: ``BlackbirdTableError``.
  static func table(of model: any BlackbirdModel.Type) throws -> ModelTable {
    let id = ObjectIdentifier(model)
    if let known = tables.withLock({ $0[id] }) { return known }
    // Outside the lock: it calls the model's code, which may ask for a table itself.
    let made = try model.makeTable()
    return tables.withLock { tables in
      if let known = tables[id] { return known }
      tables[id] = made
      return made
    }
  }
}

extension BlackbirdModel {
  fileprivate static func makeTable() throws -> ModelTable { try ModelTable(of: Self.self) }
}

extension String {
  /// The text with the letters of ASCII in lower case: texts that are one name to SQLite become equal.
  fileprivate var asciiLowercased: String {
    String(
      decoding: utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
