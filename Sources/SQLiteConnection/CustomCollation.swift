internal import CSQLite

/// An order of texts, written in Swift.
package struct CustomCollation: Sendable {
  /// The name by which SQL uses it.
  package var name: String
  /// Returns a negative number, zero or a positive number; it must be a total order, always the
  /// same, since indexes rest on it.
  package var compare: @Sendable (String, String) -> Int

  /// Describes a collation.
  package init(name: String, compare: @escaping @Sendable (String, String) -> Int) {
    self.name = name
    self.compare = compare
  }
}

extension Connection {
  /// Makes a collation known to this connection, in place of one of the same name.
  package func register(collation: CustomCollation) throws(SQLiteError) {
    typealias Compare = ConnectionHooks.Box<@Sendable (String, String) -> Int>
    let database = try openDatabase()
    let context = Unmanaged.passRetained(Compare(collation.compare))
    let code = sqlite3_create_collation_v2(
      database, collation.name, SQLITE_UTF8, context.toOpaque(),
      { context, leftCount, left, rightCount, right in
        guard let compare = Compare.value(of: context) else { return 0 }
        let left = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
        let right = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
        let order = compare(
          String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
        return order < 0 ? -1 : order > 0 ? 1 : 0
      },
      { context in
        guard let context else { return }
        Unmanaged<Compare>.fromOpaque(context).release()
      })
    guard code == SQLITE_OK else {
      // Unlike for functions, SQLite does not call the destructor when it refuses
      // (sqlite.org/c3ref/create_collation.html).
      context.release()
      throw SQLiteError(code, on: database, sql: collation.name, path: path)
    }
  }
}
