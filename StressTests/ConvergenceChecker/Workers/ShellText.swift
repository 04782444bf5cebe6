/// One transaction as input of the `sqlite3` shell, which leaves at the first statement that may not fail and
/// so tells by its exit status whether it has committed.
enum ShellText {
  static func text(of operation: Operation, entry: String, settings: Settings) -> String {
    var lines = [
      ".timeout 60000", "PRAGMA foreign_keys = \(settings.foreignKeys ? 1 : 0);",
      "PRAGMA synchronous = \(settings.synchronous);",
    ]
    if !settings.foreignCheckpoints { lines.append("PRAGMA wal_autocheckpoint = 0;") }
    switch operation.kind {
    case .vacuum: lines.append("VACUUM;")
    case .checkpoint: lines.append("PRAGMA wal_checkpoint(TRUNCATE);")
    case .reopen: break
    case .transaction, .rollback:
      lines.append("BEGIN IMMEDIATE;")
      if operation.isStampedFirst { lines += stamp(entry) }
      lines += text(of: operation.steps)
      if !operation.isStampedFirst { lines += stamp(entry) }
      // An error of our own making ends the shell with a status that says "not committed".
      lines.append(
        operation.kind == .rollback ? "SELECT * FROM \"no such table\";" : "COMMIT;")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func stamp(_ entry: String) -> [String] {
    [
      "UPDATE converge_counter SET value = value + 1 WHERE id = 1;",
      "INSERT INTO converge_ledger SELECT \(entry.quotedText), value FROM converge_counter "
        + "WHERE id = 1;",
    ]
  }

  private static func text(of steps: [Step]) -> [String] {
    var lines: [String] = []
    for step in steps {
      if let inner = step.savepoint {
        lines.append("SAVEPOINT part;")
        lines += text(of: inner)
        if step.isUndone { lines.append("ROLLBACK TO part;") }
        lines.append("RELEASE part;")
      } else if let sql = step.sql {
        if step.mayFail { lines.append(".bail off") }
        lines.append(sql + ";")
        if step.mayFail { lines.append(".bail on") }
      }
    }
    return lines
  }
}
