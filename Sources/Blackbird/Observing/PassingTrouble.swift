import BoutiqueDB

extension Error {
  /// Whether the same may well succeed in a moment: somebody held a lock for too long, the disk stumbled.
  var mayPass: Bool {
    let underlying: BoutiqueError? =
      switch self as any Error {
      case let error as BoutiqueError: error
      case Blackbird.Database.Error.queryExecutionError(_, let error),
        Blackbird.Database.Error.queryError(_, let error):
        error.underlying
      default: nil
      }
    switch underlying {
    // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_IOERR, SQLITE_PROTOCOL, SQLITE_SCHEMA.
    case .sql(let code, _): return [5, 6, 7, 10, 15, 17].contains(code & 0xff)
    case .lockTimeout, .inputOutput: return true
    default: return false
    }
  }
}
