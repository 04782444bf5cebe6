public import Foundation

extension BoutiqueError: CustomStringConvertible, LocalizedError {
  /// What happened, to which file, who is in the way and what to do.
  public var description: String {
    switch self {
    case .sql(let code, let message):
      return "SQLite error \(code): \(message)"
    case .migrationFailed(let id, let message):
      return "migration '\(id)' failed and was undone: \(message)"
    case .transactionInProgress:
      return "a write was started inside a write of the same database; use savepoint inside the "
        + "closure, or start the second write after the first has returned"
    case .lockTimeout(let timeout):
      return "the write lock of \(timeout.path) \(timeout.sentence)"
    case .writeTimedOut(let timeout):
      return "the write on \(timeout.path) \(timeout.sentence)"
    case .migrationLockTimeout(let timeout):
      return
        "another process is preparing or migrating \(timeout.path): the lock \(timeout.sentence)"
    case .notADatabase(let path):
      return "\(path) is not an SQLite database (or is encrypted); it was left as it is"
    case .corrupt(let path, let message):
      return "\(path) is damaged: \(message); restore a backup, or salvage rows with "
        + "sqlite3's .recover"
    case .readOnly(let path, let message):
      return "\(path) cannot be written: \(message)"
    case .diskFull(let path, let message):
      return
        "no space left for \(path): \(message); the transaction left nothing behind, try again "
        + "when there is room"
    case .inputOutput(let path, let message):
      return "input/output error on \(path): \(message)"
    case .directoryMissing(let path):
      return "the directory \(path) does not exist; make it first"
    case .fileMissing(let path):
      return "the database \(path) does not exist"
    case .permissionDenied(let path, let message):
      return "no permission for \(path): \(message)"
    case .unsupportedFileSystem(let path, let message):
      return "\(path) cannot hold a shared database: \(message); put it on a local file system"
    case .invalidPath(let path, let message):
      return "\(path) cannot be used: \(message)"
    case .fileReplaced(let path, let message):
      return
        "\(path) is no longer the file that was opened: \(message); nothing more is written to "
        + "it, close and open again"
    case .databaseNewer(let path, let unknown):
      return "\(path) was migrated by a newer program: this one does not know "
        + unknown.map { "'\($0)'" }.joined(separator: ", ") + "; update this program"
    case .migrationOrder(let path, let message):
      return "the migrations applied to \(path) do not fit the plan: \(message)"
    case .lockFile(let path, let message):
      return "the lock file \(path) cannot be used: \(message)"
    case .closed(let path):
      return "the database \(path) is closed"
    case .usedAcrossFork(let path):
      return "the database \(path) was opened before fork; open it again in the child process"
    case .decodingFailed(let failure):
      return "decoding failed: \(failure)"
    case .bindingFailed(let failure):
      return failure.description
    case .writeInRead(let sql):
      return "a read cannot write; use write { } for: \(sql)"
    case .statementRefused(let sql, let reason):
      return "\(reason): \(sql)"
    case .invalidStatement(let sql, let reason):
      return "\(reason) in: \(sql)"
    case .connectionEnded:
      return "a connection was used outside the closure it was given to"
    case .consumerInUse(let use):
      var text = "the change feed of \(use.path) is consumed as “\(use.name)” already"
      if let pid = use.pid { text += ", by pid \(pid)" }
      if !use.label.isEmpty { text += " “\(use.label)”" }
      return text + "; end that, or use another name"
    case .waitTimedOut(let wait):
      return "\(wait.path) did not reach change \(wait.token.number) within "
        + String(format: "%.2f s", wait.waited.inSeconds)
        + "; it stands at \(wait.reached.number)"
    case .tokenVoid(let path, let token, let message):
      return "the token \(token) names no commit of \(path): \(message)"
    case .invalidConfiguration(let message):
      return "the configuration cannot be used: \(message)"
    }
  }

  /// The same text as ``description``.
  public var errorDescription: String? { description }
}

extension WriteTimeout {
  var sentence: String {
    String(
      format: "had %.2f s, waited %.2f s for its turn and ran for %.2f s: it was interrupted and "
        + "undone; give it more time, or do less in one write",
      limit.inSeconds, waited.inSeconds, ran.inSeconds)
  }
}

extension LockTimeout {
  var sentence: String {
    let wait = String(format: "%.2f s", waited.inSeconds)
    guard let holder else { return "was not free within \(wait)" }
    var text = "was not free within \(wait): held by pid \(holder.pid)"
    if holder.isInOtherNamespace { text += " of another pid namespace (a container)" }
    if !holder.label.isEmpty { text += " “\(holder.label)”" }
    if !holder.command.isEmpty { text += " (\(holder.command))" }
    if let heldFor = holder.heldFor {
      text += String(format: " for %.2f s", heldFor.inSeconds)
    }
    if let purpose = holder.purpose, !purpose.isEmpty { text += ", for: \(purpose)" }
    if holder.isForeign { text += "; it does not use this library" }
    if holder.isStopped, !holder.isInOtherNamespace {
      text +=
        "; it is stopped: continue it (kill -CONT \(holder.pid)) or end it "
        + "(kill -9 \(holder.pid))"
    }
    return text
  }
}
