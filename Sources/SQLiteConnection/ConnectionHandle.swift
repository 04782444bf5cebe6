internal import CSQLite

/// What a connection and its statements share: the pointer, the authorizer, the living statements.
///
/// Statements hold this and not the connection, so that the connection's statement cache makes no
/// cycle. Used on the connection's thread only.
final class ConnectionHandle {
  let path: String
  /// The open database, `nil` once closed or abandoned.
  private(set) var database: OpaquePointer?
  let recorder = AuthorizerRecorder()
  /// Every statement that has a pointer.
  ///
  /// A statement takes itself out when it is deinitialised, so none of these references dangles.
  private var statements: [ObjectIdentifier: Unmanaged<PreparedStatement>] = [:]

  init(database: OpaquePointer, path: String) {
    self.database = database
    self.path = path
    recorder.install(on: database)
  }

  func insert(_ statement: PreparedStatement) {
    statements[ObjectIdentifier(statement)] = .passUnretained(statement)
  }

  func remove(_ statement: PreparedStatement) {
    statements[ObjectIdentifier(statement)] = nil
  }

  /// Calls `body` with each living statement.
  func forEachStatement(_ body: (PreparedStatement) -> Void) {
    for statement in statements.values {
      body(statement.takeUnretainedValue())
    }
  }

  /// Finalizes every statement and gives the pointer away.
  func detach(finalizing: Bool) -> OpaquePointer? {
    let living = statements.values.map { $0.takeUnretainedValue() }
    statements = [:]
    for statement in living { statement.invalidate(finalizing: finalizing) }
    defer { database = nil }
    return database
  }
}

/// What `sqlite3_prepare_v3` made of one statement of a text.
struct Compilation {
  /// The statement; `nil` when there is none or it is wrong.
  var pointer: OpaquePointer?
  var code: Int32 = SQLITE_OK
  /// Where the statement begins and where the text after it begins, in bytes.
  var start = 0
  var end = 0
  var isVacuum = false

  /// Compiles the first statement at or after `offset`.
  static func compile(
    _ bytes: UnsafeBufferPointer<UInt8>, from offset: Int, isPersistent: Bool,
    on database: OpaquePointer
  ) -> Compilation {
    var result = Compilation()
    result.start = SQLText.skipTrivia(bytes, from: offset)
    result.end = bytes.count
    guard result.start < bytes.count, let base = bytes.baseAddress else { return result }
    result.isVacuum = SQLText.begins(with: "VACUUM", bytes, at: result.start)
    let text = UnsafeRawPointer(base + result.start).assumingMemoryBound(to: CChar.self)
    var tail: UnsafePointer<CChar>?
    result.code = sqlite3_prepare_v3(
      database, text, Int32(clamping: bytes.count - result.start),
      isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &result.pointer, &tail)
    if let tail { result.end = result.start + (tail - text) }
    return result
  }
}
