/// The statements of a connection by their text, the least recently used of them evicted first.
struct StatementCache {
  let capacity: Int
  // Texts that Unicode holds equal are different statements to SQLite.
  private var statements: [ByteExactString: PreparedStatement] = [:]
  private var clock: UInt64 = 0

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// The number of statements kept.
  var count: Int { statements.count }

  /// Returns the statement of this text, marked as in use, unless there is none or it is in use.
  mutating func checkOut(_ sql: String) -> PreparedStatement? {
    guard let index = statements.index(forKey: ByteExactString(sql)) else { return nil }
    if statements[index].value.isInUse {
      // Dropped without a reset: nobody but the cache has it any more.
      guard isKnownUniquelyReferenced(&statements.values[index]) else { return nil }
      statements[index].value.reset()
    }
    let statement = statements[index].value
    clock &+= 1
    statement.lastUse = clock
    statement.markInUse()
    return statement
  }

  /// Keeps a statement, unless its text has one already.
  mutating func insert(_ statement: PreparedStatement) {
    let key = ByteExactString(statement.sql)
    guard capacity > 0, statements[key] == nil else { return }
    if statements.count >= capacity { evict() }
    guard statements.count < capacity else { return }
    clock &+= 1
    statement.lastUse = clock
    statements[key] = statement
  }

  /// Drops the idle statement that was used longest ago.
  ///
  /// A search of the whole cache: it happens only where a compilation, which costs much more, has
  /// just been done.
  private mutating func evict() {
    let idle = statements.values.lazy.filter { !$0.isInUse }
    guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return }
    statements[ByteExactString(oldest.sql)] = nil
  }

  /// Drops every statement; those in use stay alive with whoever uses them.
  mutating func removeAll() {
    statements = [:]
  }
}
