internal import CSQLite
internal import Glibc

/// Collects what SQLite's authorizer tells while a statement is compiled.
///
/// A virtual table that is connected meanwhile compiles statements of its own (FTS5 asks
/// `PRAGMA data_version` and reads its configuration), and the authorizer cannot tell whose they
/// are. Connecting leaves a mark, though: the declaration of the table's columns looks like an
/// update of the schema table. Compiled once more, with the virtual table connected by then, the
/// statement stands alone. See `ConnectionHandle.compile`.
final class AuthorizerRecorder {
  private(set) var reads: [String: Set<String>] = [:]
  private(set) var effects = StatementEffects()
  /// Tables read without a column, to be looked up afterwards: SQLite tells their names as the statement
  /// spells them, and the database's name only if the statement has it.
  private var unresolved: Set<TableInText> = []
  /// Whether a virtual table may have been connected, and the rest may in part be its own doing.
  private(set) var isMixed = false
  private var isUsed = false
  /// Whether the text that is being compiled is a pragma, and not one of a virtual table's.
  var asksPragmaPolicy = false
  /// Decides which pragmas are compiled.
  var pragmaPolicy: ((_ name: String, _ argument: String?) -> Bool)?

  /// Triggers that do nothing: the beginning of their names, and the table of the main database that they
  /// insert into, as C strings.
  var silenced: (prefix: ContiguousArray<CChar>, table: ContiguousArray<CChar>)?

  /// Forgets what was collected.
  func discard() {
    guard isUsed else { return }
    reads = [:]
    effects = StatementEffects()
    unresolved = []
    isMixed = false
    isUsed = false
  }

  /// Installs this recorder; it must live as long as the connection.
  func install(on database: OpaquePointer) {
    sqlite3_set_authorizer(
      database,
      { context, action, first, second, databaseName, trigger in
        guard let context else { return SQLITE_OK }
        let recorder = Unmanaged<AuthorizerRecorder>.fromOpaque(context).takeUnretainedValue()
        if recorder.ignores(action, first, databaseName, in: trigger) { return SQLITE_IGNORE }
        recorder.record(action, first, second, databaseName)
        if action == SQLITE_PRAGMA, !recorder.allows(pragma: first, second) { return SQLITE_DENY }
        return SQLITE_OK
      },
      Unmanaged.passUnretained(self).toOpaque())
  }

  private func record(
    _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ databaseName: UnsafePointer<CChar>?
  ) {
    isUsed = true
    switch action {
    case SQLITE_READ:
      recordRead(table: first, column: second, databaseName)
    case SQLITE_INSERT, SQLITE_DELETE, SQLITE_UPDATE:
      recordWrite(table: first, databaseName)
    case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE:
      break
    default:
      effects.isPlain = false
      recordSpecial(action, first, second, databaseName)
    }
  }

  /// Whether SQLite compiles an insertion to nothing, or what is read to NULL.
  private func ignores(
    _ action: Int32, _ table: UnsafePointer<CChar>?, _ databaseName: UnsafePointer<CChar>?,
    in trigger: UnsafePointer<CChar>?
  ) -> Bool {
    guard let silenced, let databaseName, sqlite3_stricmp(databaseName, "main") == 0 else {
      return false
    }
    switch action {
    case SQLITE_INSERT:
      guard let table else { return false }
      return silenced.table.withUnsafeBufferPointer { name in
        name.baseAddress.map { sqlite3_stricmp($0, table) == 0 } ?? false
      }
    case SQLITE_READ:
      guard let trigger else { return false }
      return silenced.prefix.withUnsafeBufferPointer { prefix in
        prefix.baseAddress.map { strncmp($0, trigger, prefix.count - 1) == 0 } ?? false
      }
    default:
      return false
    }
  }

  private func allows(
    pragma name: UnsafePointer<CChar>?, _ argument: UnsafePointer<CChar>?
  ) -> Bool {
    guard asksPragmaPolicy, let pragmaPolicy, let name else { return true }
    return pragmaPolicy(
      String(cString: name).lowercased(), argument.map { String(cString: $0) })
  }

  private func recordRead(
    table: UnsafePointer<CChar>?, column: UnsafePointer<CChar>?,
    _ databaseName: UnsafePointer<CChar>?
  ) {
    guard let table else { return }
    if let databaseName, let column, column.pointee != 0 {
      reads[qualifiedName(table, databaseName), default: []].insert(String(cString: column))
    } else {
      unresolved.insert(
        TableInText(
          database: databaseName.map { String(cString: $0) }, name: String(cString: table)))
    }
  }

  private func recordWrite(
    table: UnsafePointer<CChar>?, _ databaseName: UnsafePointer<CChar>?
  ) {
    guard let table else { return }
    switch String(cString: table) {
    // Every schema change writes these; in defensive mode nobody else can.
    case "sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema":
      isMixed = true
    default: effects.writtenTables.insert(qualifiedName(table, databaseName))
    }
  }

  private func recordSpecial(
    _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
    _ databaseName: UnsafePointer<CChar>?
  ) {
    let firstText = first.map { String(cString: $0) }
    let secondText = second.map { String(cString: $0) }
    switch action {
    case SQLITE_TRANSACTION:
      switch firstText {
      case "BEGIN": effects.transactionControl = .begin
      case "COMMIT": effects.transactionControl = .commit
      default: effects.transactionControl = .rollback
      }
    case SQLITE_SAVEPOINT:
      let operation: StatementEffects.SavepointControl.Operation =
        switch firstText {
        case "BEGIN": .begin
        case "RELEASE": .release
        default: .rollback
        }
      effects.savepoint = .init(operation: operation, name: secondText ?? "")
    case SQLITE_PRAGMA:
      effects.pragma = .init(name: (firstText ?? "").lowercased(), argument: secondText)
    case SQLITE_ATTACH:
      effects.attachedFile = firstText ?? ""
    case SQLITE_DETACH:
      effects.detachedDatabase = firstText ?? ""
    case SQLITE_ALTER_TABLE:
      // The only action that has the database as its first argument.
      effects.schemaChanges.append(
        .init(
          kind: .alterTable, objectName: secondText ?? "", tableName: secondText,
          databaseName: firstText ?? "main"))
    default:
      guard let kind = schemaChangeKind(action) else { return }
      let table: String? =
        switch kind {
        case .createIndex, .createTrigger, .dropIndex, .dropTrigger: secondText
        case .createView, .dropView, .reindex: nil
        default: firstText
        }
      effects.schemaChanges.append(
        .init(
          kind: kind, objectName: firstText ?? "", tableName: table,
          databaseName: databaseName.map { String(cString: $0) } ?? "main"))
    }
  }

  private func schemaChangeKind(_ action: Int32) -> StatementEffects.SchemaChange.Kind? {
    switch action {
    case SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_TABLE: .createTable
    case SQLITE_CREATE_INDEX, SQLITE_CREATE_TEMP_INDEX: .createIndex
    case SQLITE_CREATE_TRIGGER, SQLITE_CREATE_TEMP_TRIGGER: .createTrigger
    case SQLITE_CREATE_VIEW, SQLITE_CREATE_TEMP_VIEW: .createView
    case SQLITE_CREATE_VTABLE: .createVirtualTable
    case SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE: .dropTable
    case SQLITE_DROP_INDEX, SQLITE_DROP_TEMP_INDEX: .dropIndex
    case SQLITE_DROP_TRIGGER, SQLITE_DROP_TEMP_TRIGGER: .dropTrigger
    case SQLITE_DROP_VIEW, SQLITE_DROP_TEMP_VIEW: .dropView
    case SQLITE_DROP_VTABLE: .dropVirtualTable
    case SQLITE_REINDEX: .reindex
    case SQLITE_ANALYZE: .analyze
    default: nil
    }
  }

  private func qualifiedName(
    _ table: UnsafePointer<CChar>, _ databaseName: UnsafePointer<CChar>?
  ) -> String {
    let table = String(cString: table)
    guard let databaseName else { return table }
    let database = String(cString: databaseName)
    return database == "main" ? table : "\(database).\(table)"
  }

  /// Hands over what was collected, and starts anew.
  func take(on database: OpaquePointer) -> (ReadSet, StatementEffects) {
    var (reads, effects, unresolved) = (reads, effects, unresolved)
    for table in unresolved {
      let name = resolve(table, on: database)
      if reads[name] == nil { reads[name] = [] }
    }
    unresolved = []
    // Also what looking up the names has left.
    discard()
    return (ReadSet(tables: reads), effects)
  }

  /// Finds a table that was named without a database in SQLite's order: temp, main, attached; and its name as
  /// the schema has it.
  ///
  /// The name may be a common table expression's; then it stays as it is.
  private func resolve(_ table: TableInText, on database: OpaquePointer) -> String {
    func exists(in name: String) -> Bool {
      sqlite3_table_column_metadata(database, name, table.name, nil, nil, nil, nil, nil, nil)
        == SQLITE_OK
    }
    var names = ["temp", "main"]
    var index: Int32 = 2
    while let name = sqlite3_db_name(database, index) {
      names.append(String(cString: name))
      index += 1
    }
    guard let found = table.database?.lowercased() ?? names.first(where: exists) else {
      return table.name
    }
    let name = storedName(of: table.name, in: found, on: database)
    return found == "main" ? name : "\(found).\(name)"
  }

  /// Returns a table's name as it was spelled when it was made; changes carry that one.
  private func storedName(
    of name: String, in schema: String, on database: OpaquePointer
  ) -> String {
    let quoted = schema.doubling("\"")
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    // NOCASE is how SQLite compares names: without regard to the case of ASCII letters.
    let sql = """
      SELECT name FROM "\(quoted)".sqlite_schema
        WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE
      """
    let bytes = Array(name.utf8)
    let isFound =
      sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
      && boutique_sqlite_bind_text(statement, 1, bytes, UInt64(bytes.count)) == SQLITE_OK
      && sqlite3_step(statement) == SQLITE_ROW
    guard isFound, let text = sqlite3_column_text(statement, 0) else { return name }
    return String(cString: text)
  }
}

/// A table as the text of a statement names it.
private struct TableInText: Hashable {
  var database: String?
  var name: String
}
