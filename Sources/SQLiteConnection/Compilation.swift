internal import CSQLite

/// What came of compiling one statement of a text.
struct Compilation {
  /// The statement; `nil` when there is none or it is wrong.
  var pointer: OpaquePointer?
  var code: Int32 = SQLITE_OK
  /// Where the statement begins and where the text after it begins, in bytes.
  var start = 0
  var end = 0
  var readSet = ReadSet()
  var effects = StatementEffects()
}

extension ConnectionHandle {
  /// Compiles the first statement at or after `offset`, and finds out what it reads and does.
  func compile(
    _ bytes: UnsafeBufferPointer<UInt8>, from offset: Int, isPersistent: Bool,
    on database: OpaquePointer
  ) -> Compilation {
    var result = Compilation()
    result.start = SQLText.skipTrivia(bytes, from: offset)
    result.end = bytes.count
    guard result.start < bytes.count, let base = bytes.baseAddress else { return result }
    let text = UnsafeRawPointer(base + result.start).assumingMemoryBound(to: CChar.self)
    let length = Int32(clamping: bytes.count - result.start)
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var tail: UnsafePointer<CChar>?

    recorder.asksPragmaPolicy = SQLText.isPragma(bytes, at: result.start)
    defer { recorder.asksPragmaPolicy = false }
    recorder.discard()
    result.code = sqlite3_prepare_v3(database, text, length, flags, &result.pointer, &tail)
    if result.code == SQLITE_OK, recorder.isMixed {
      sqlite3_finalize(result.pointer)
      recorder.discard()
      result.code = sqlite3_prepare_v3(database, text, length, flags, &result.pointer, &tail)
    }
    if let tail { result.end = result.start + (tail - text) }
    guard result.code == SQLITE_OK else {
      // After a syntax error the tail is where the parser stopped, in the middle of the statement.
      let semicolon = UInt8(ascii: ";")
      if result.end <= result.start || bytes[result.end - 1] != semicolon {
        let next = bytes[result.end...].firstIndex(of: semicolon)
        result.end = next.map { $0 + 1 } ?? bytes.count
      }
      return result
    }
    (result.readSet, result.effects) = recorder.take(on: database)
    if SQLText.begins(with: "VACUUM", bytes, at: result.start) {
      // The one statement of effect that the authorizer is not asked about.
      result.effects.isVacuum = true
      result.effects.isPlain = false
    }
    return result
  }

  /// Compiles a text once more for what it reads and does, or returns `nil` when it cannot be.
  func analyze(_ sql: String) -> (ReadSet, StatementEffects)? {
    guard let database else { return nil }
    var sql = sql
    let compilation = sql.withUTF8 {
      compile($0, from: 0, isPersistent: false, on: database)
    }
    guard let pointer = compilation.pointer else { return nil }
    sqlite3_finalize(pointer)
    return (compilation.readSet, compilation.effects)
  }
}
