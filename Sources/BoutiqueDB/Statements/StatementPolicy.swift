import SQLiteConnection

/// Which statements a closure may not run, since the library's promises rest on running them itself.
enum StatementPolicy {
  /// Settings that, changed on one connection, would break transactions, capture, checkpoints under the
  /// lease, or other processes.
  private static let refusedPragmas: Set<String> = [
    "journal_mode", "locking_mode", "wal_checkpoint", "wal_autocheckpoint", "mmap_size",
    "query_only", "synchronous", "journal_size_limit", "foreign_keys", "trusted_schema",
    "cell_size_check", "hard_heap_limit", "soft_heap_limit",
    "read_uncommitted", "busy_timeout", "page_size", "auto_vacuum", "incremental_vacuum",
    "writable_schema", "recursive_triggers", "secure_delete", "temp_store",
  ]

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
      return pragmaRefusal
    }
    return nil
  }

  /// Whether a closure may run a pragma.
  ///
  /// Asked while it is compiled: many take effect right there.
  static func admits(pragma name: String, argument: String?) -> Bool {
    argument == nil || !refusedPragmas.contains(name)
  }

  static let pragmaRefusal = "this setting is the library's (see BoutiqueConfiguration)"
}
