import SQLiteConnection

/// Which statements a closure may not run, since the library's promises rest on running them itself.
enum StatementPolicy {
  /// The pragmas that a closure may give a value.
  ///
  /// Any other setting would stay on the connection for the closures that come after, or break
  /// transactions, capture, checkpoints under the lease, or other processes.
  private static let admittedPragmas: Set<String> = [
    // What they change is part of the transaction.
    "user_version", "application_id", "defer_foreign_keys", "optimize", "incremental_vacuum",
    // Their argument says what to look at.
    "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
    "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check", "data_version",
  ]

  /// Pragmas that, without an argument, only tell a number that a transaction sees.
  private static let tellingPragmas: Set<String> = [
    "schema_version", "user_version", "application_id", "data_version", "page_count", "page_size",
    "freelist_count", "encoding",
  ]

  /// Whether a statement's effect is confined to rows: writes that wait may share its transaction.
  static func isConfinedToRows(_ effects: StatementEffects) -> Bool {
    guard !effects.isPlain else { return true }
    guard let pragma = effects.pragma, pragma.argument == nil, effects.schemaChanges.isEmpty
    else { return false }
    return tellingPragmas.contains(pragma.name)
  }

  /// Returns why a statement is refused, or nil when it may run.
  static func refusal(of effects: StatementEffects) -> String? {
    if effects.transactionControl != nil {
      return "transactions are begun and ended by read and write, not by statements"
    }
    if effects.savepoint != nil {
      return "use savepoint { } so that captured changes follow the rollback"
    }
    if effects.attachedFile != nil || effects.detachedDatabase != nil {
      return "attached databases take no part in sharing"
    }
    if effects.isVacuum { return "use vacuum(), which runs outside a transaction" }
    if let pragma = effects.pragma, !admits(pragma: pragma.name, argument: pragma.argument) {
      return capturePragmas.contains(pragma.name) ? capturePragmaRefusal : pragmaRefusal
    }
    return nil
  }

  /// Returns why a statement that writes is refused for the sake of the library's own tables, or nil.
  static func internalTableRefusal(of effects: StatementEffects) -> String? {
    var names = effects.writtenTables
    if !effects.isPlain {
      names.formUnion(effects.schemaChanges.map { $0.tableName ?? $0.objectName })
      names.formUnion(effects.schemaChanges.map(\.objectName))
    }
    // With a table its triggers go as well.
    let dropsTable = effects.schemaChanges.contains { $0.kind == .dropTable }
    let name = names.first {
      CaptureSchema.internalTables.contains($0)
        || !dropsTable && $0.hasPrefix(ForeignTriggers.prefix)
    }
    guard let name else { return nil }
    return "\(name) is kept by the library"
  }

  /// Whether a closure may run a pragma.
  ///
  /// Asked while it is compiled: many take effect right there.
  static func admits(pragma name: String, argument: String?) -> Bool {
    // SQLite would pass over a pragma that it does not know, and the caller believe that rows are kept.
    !capturePragmas.contains(name) && (argument == nil || admittedPragmas.contains(name))
  }

  /// Turso's pragmas for capturing changes.
  private static let capturePragmas: Set<String> = [
    "capture_data_changes_conn", "unstable_capture_data_changes_conn",
  ]

  /// Returns why a pragma was refused while it was compiled.
  static func pragmaRefusal(in sql: String) -> String {
    let sql = sql.lowercased()
    return capturePragmas.contains(where: sql.contains) ? capturePragmaRefusal : pragmaRefusal
  }

  private static let pragmaRefusal = "this setting is the library's (see BoutiqueConfiguration)"
  private static let capturePragmaRefusal =
    "that is Turso's pragma; here changes are always captured: set what is kept of a row with "
    + "BoutiqueConfiguration.captureModes or db.setCaptureMode(_:forTable:), ask with "
    + "db.captureModes(), read the view turso_cdc or db.changes()"
}
