internal import CSQLite

/// An SQL function written in Swift.
package struct CustomFunction: Sendable {
  /// The name by which SQL calls it.
  package var name: String
  /// How many arguments it takes; `nil` for any number.
  package var argumentCount: Int?
  /// Whether equal arguments always give equal results.
  package var isDeterministic: Bool
  /// Whether it is harmless when called from a schema that somebody else wrote.
  ///
  /// Without it the function cannot be used in triggers, views, indexes and the like, since the
  /// schema is not trusted.
  package var isInnocuous: Bool
  /// Whether it may be called from SQL text only, never from triggers, views and the like.
  package var isDirectOnly: Bool
  /// Computes the result; an error becomes the error of the SQL statement.
  package var body: @Sendable ([SQLiteValue]) throws -> SQLiteValue

  /// Describes a function.
  package init(
    name: String, argumentCount: Int? = nil, isDeterministic: Bool = false,
    isInnocuous: Bool = false, isDirectOnly: Bool = false,
    body: @escaping @Sendable ([SQLiteValue]) throws -> SQLiteValue
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.isDeterministic = isDeterministic
    self.isInnocuous = isInnocuous
    self.isDirectOnly = isDirectOnly
    self.body = body
  }
}

extension Connection {
  /// Makes a function known to this connection, in place of one of the same name and count.
  package func register(function: CustomFunction) throws(SQLiteError) {
    typealias Body = ConnectionHooks.Box<@Sendable ([SQLiteValue]) throws -> SQLiteValue>
    let database = try openDatabase()
    var flags = SQLITE_UTF8
    if function.isDeterministic { flags |= SQLITE_DETERMINISTIC }
    if function.isInnocuous { flags |= SQLITE_INNOCUOUS }
    if function.isDirectOnly { flags |= SQLITE_DIRECTONLY }
    // SQLite owns this reference and gives it back through the destructor, also when it refuses.
    let context = Unmanaged.passRetained(Body(function.body)).toOpaque()
    let code = sqlite3_create_function_v2(
      database, function.name, function.argumentCount.map { Int32(clamping: $0) } ?? -1, flags,
      context,
      { context, count, arguments in
        guard let body = Body.value(of: sqlite3_user_data(context)) else { return }
        var values: [SQLiteValue] = []
        values.reserveCapacity(Int(count))
        for index in 0..<Int(count) { values.append(SQLiteValue(arguments?[index])) }
        do {
          setResult(try body(values), of: context)
        } catch let error as SQLiteError {
          sqlite3_result_error(context, error.message, -1)
          // The code alone; the message stays.
          sqlite3_result_error_code(context, error.code.rawValue)
        } catch {
          sqlite3_result_error(context, String(describing: error), -1)
        }
      }, nil, nil,
      { context in
        guard let context else { return }
        Unmanaged<Body>.fromOpaque(context).release()
      })
    guard code == SQLITE_OK else {
      throw SQLiteError(code, on: database, sql: function.name, path: path)
    }
  }
}

private func setResult(_ value: SQLiteValue, of context: OpaquePointer?) {
  switch value {
  case .null: sqlite3_result_null(context)
  case .integer(let value): sqlite3_result_int64(context, value)
  case .real(let value): sqlite3_result_double(context, value)
  case .text(var value):
    value.withUTF8 { utf8 in
      boutique_sqlite_result_text(context, utf8.baseAddress, UInt64(utf8.count))
    }
  case .blob(let value):
    value.withUnsafeBytes { bytes in
      boutique_sqlite_result_blob(context, bytes.baseAddress, UInt64(bytes.count))
    }
  }
}
