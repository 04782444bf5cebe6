internal import CSQLite

extension Connection {
  /// Compiles a statement, or takes it from the cache.
  ///
  /// The text must be exactly one statement; white space, comments and semicolons around it are
  /// fine. Call `reset()` when done with it. While it is in use another `prepare` of the same text
  /// makes a statement of its own.
  package func prepare(_ sql: String) throws(SQLiteError) -> PreparedStatement {
    if let statement = cached(sql) { return statement }
    let statement = try compile(sql, isPersistent: true)
    // SQLite compiles a kept one anew while it runs, when the schema has changed. What it does then, nobody was told of
    // before: `DROP TABLE IF EXISTS` may have been nothing at first.
    if !statement.isDefinition { cache.insert(statement) }
    return statement
  }

  /// Takes a statement from the cache, or returns nil when it is not there or in use.
  ///
  /// - Parameter number: what stands for the text, which is not looked at then; 0 when nothing does.
  package func cached(_ sql: String, number: Int = 0) -> PreparedStatement? {
    cache.checkOut(sql, number: number)
  }

  /// Runs one statement without parameters to its end.
  package func execute(_ sql: String) throws(SQLiteError) {
    try prepare(sql).run()
  }

  /// Runs one statement that is not worth a place in the cache.
  func executeUncached(_ sql: String) throws(SQLiteError) {
    try compile(sql, isPersistent: false).run()
  }

  /// Runs the statements of a script in order, stopping at the first error.
  ///
  /// `each` is called with every statement before it is run; what it throws ends the script. An
  /// error of SQLite says which statement it was.
  package func executeScript(
    _ sql: String, each: ((PreparedStatement) throws -> Void)? = nil
  ) throws {
    var sql = sql
    let length = sql.utf8.count
    var offset = 0
    var number = 0
    while offset < length {
      let database = try openDatabase(sql)
      number += 1
      let (compilation, text) = sql.withUTF8 { bytes in
        let compilation = handle.compile(
          bytes, from: offset, isPersistent: false, on: database)
        let part = UnsafeBufferPointer(rebasing: bytes[compilation.start..<compilation.end])
        return (compilation, String(decoding: part, as: UTF8.self))
      }
      guard compilation.start < length else { return }
      do {
        let statement = try statement(
          compilation, sql: text, offsetBase: 0, on: database)
        try each?(statement)
        try statement.run()
      } catch var error as SQLiteError {
        error.statementNumber = error.statementNumber ?? number
        throw error
      }
      offset = compilation.end
    }
  }

  /// Returns the first column of the first row, or `nil` when there is no row or it is NULL.
  package func queryInt64(_ sql: String) throws(SQLiteError) -> Int64? {
    let statement = try prepare(sql)
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return statement.int64(0)
  }

  /// Returns the first column of the first row, or `nil` when there is no row or it is NULL.
  package func queryText(_ sql: String) throws(SQLiteError) -> String? {
    let statement = try prepare(sql)
    defer { statement.reset() }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return statement.text(0)
  }

  /// Returns whether any statement, one of a virtual table's own included, holds its snapshot.
  package func hasBusyStatement() -> Bool {
    guard let database = handle.database else { return false }
    var statement = sqlite3_next_stmt(database, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 { return true }
      statement = sqlite3_next_stmt(database, current)
    }
    return false
  }

  /// Returns whether a statement that writes is under way.
  ///
  /// From inside SQLite's handlers too. To interrupt such a statement ends its whole transaction.
  package func hasBusyWritingStatement() -> Bool {
    guard let database = handle.database else { return false }
    var statement = sqlite3_next_stmt(database, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0, sqlite3_stmt_readonly(current) == 0 { return true }
      statement = sqlite3_next_stmt(database, current)
    }
    return false
  }

  /// Resets every statement of ours that is busy.
  ///
  /// Statements that a virtual table made for itself are left alone: resetting one under FTS5's
  /// open blob would leave it with a cursor that is gone.
  package func resetBusyStatements() {
    // The common case, after each closure; asking SQLite alone is several times cheaper.
    guard hasBusyStatement() else { return }
    handle.forEachStatement { statement in
      if statement.isBusy { statement.reset() }
    }
  }

  /// Drops the cached statements that are not in use.
  package func flushStatementCache() {
    cache.removeAll()
  }

  // MARK: Compilation

  func compile(
    _ sql: String, isPersistent: Bool
  ) throws(SQLiteError) -> PreparedStatement {
    let database = try openDatabase(sql)
    var text = sql
    let (compilation, trailing) = text.withUTF8 { bytes -> (Compilation, String?) in
      let compilation = handle.compile(
        bytes, from: 0, isPersistent: isPersistent, on: database)
      guard compilation.pointer != nil else { return (compilation, nil) }
      let rest = SQLText.skipTrivia(bytes, from: compilation.end)
      guard rest < bytes.count else { return (compilation, nil) }
      let part = UnsafeBufferPointer(rebasing: bytes[rest...])
      return (compilation, String(decoding: part, as: UTF8.self))
    }
    if let trailing {
      sqlite3_finalize(compilation.pointer)
      throw SQLiteError(
        code: .misuse,
        message: "one statement was expected, and more follows it: \(trailing)",
        sql: sql, path: path, byteOffset: sql.utf8.count - trailing.utf8.count)
    }
    return try statement(
      compilation, sql: sql, offsetBase: compilation.start, on: database)
  }

  private func statement(
    _ compilation: Compilation, sql: String, offsetBase: Int, on database: OpaquePointer
  ) throws(SQLiteError) -> PreparedStatement {
    guard compilation.code == SQLITE_OK else {
      throw SQLiteError(
        compilation.code, on: database, sql: sql, path: path, offsetBase: offsetBase)
    }
    guard let pointer = compilation.pointer else {
      throw SQLiteError(
        code: .misuse, message: "the text contains no statement", sql: sql, path: path)
    }
    return PreparedStatement(pointer, compilation, sql: sql, handle: handle)
  }
}
