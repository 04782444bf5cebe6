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
  /// Who is told of changes, and of statements that failed; gone once the connection is closed.
  var preupdateObserver: (any PreupdateObserver)?
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
    preupdateObserver = nil
    defer { database = nil }
    return database
  }
}
