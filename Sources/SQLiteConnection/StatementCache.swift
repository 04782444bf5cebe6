/// The statements of a connection by their text, the least recently used of them evicted first.
struct StatementCache {
  let capacity: Int
  // Texts that Unicode holds equal are different statements to SQLite.
  private var statements: [ByteExactString: PreparedStatement] = [:]
  private var clock: UInt64 = 0
  // Before the table is asked: one place for each statement met lately, by the caller's number or by a hash that
  // is much cheaper than the table's. What stands here stands in the table as well.
  private var recent: [(number: Int, statement: PreparedStatement?)]

  private static let recentCount = 128

  init(capacity: Int) {
    self.capacity = max(0, capacity)
    recent = Array(repeating: (0, nil), count: Self.recentCount)
  }

  /// The number of statements kept.
  var count: Int { statements.count }

  /// Returns the statement of this text, marked as in use, unless there is none or it is in use.
  ///
  /// - Parameter number: what stands for the text, which is not looked at then; 0 when nothing does.
  mutating func checkOut(_ sql: String, number: Int = 0) -> PreparedStatement? {
    let place = Self.place(of: sql, number: number)
    if let known = recent[place].statement, recent[place].number == number,
      number != 0 || known.hasText(sql)
    {
      if !known.isInUse { return handOut(known) }
      // Out of the way of the look at who else has it.
      recent[place].statement = nil
    }
    guard let index = statements.index(forKey: ByteExactString(sql)) else { return nil }
    if statements[index].value.isInUse {
      // Dropped without a reset: nobody but the cache has it any more.
      guard isKnownUniquelyReferenced(&statements.values[index]) else { return nil }
      statements[index].value.reset()
    }
    let statement = statements[index].value
    recent[place] = (number, statement)
    return handOut(statement)
  }

  private mutating func handOut(_ statement: PreparedStatement) -> PreparedStatement {
    clock &+= 1
    statement.lastUse = clock
    statement.markInUse()
    return statement
  }

  private static func place(of sql: String, number: Int) -> Int {
    guard number == 0 else { return number & (recentCount - 1) }
    var hash = UInt64(truncatingIfNeeded: sql.utf8.count)
    // A multiplication for eight bytes; the collisions of a hash so simple only cost a look into the table.
    sql.utf8.withContiguousStorageIfAvailable { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var offset = 0
      while offset + 8 <= bytes.count {
        hash =
          (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
          &* 0x9e37_79b9_7f4a_7c15
        hash ^= hash >> 29
        offset += 8
      }
      while offset < bytes.count {
        hash = (hash ^ UInt64(bytes[offset])) &* 0x9e37_79b9_7f4a_7c15
        offset += 1
      }
    }
    return Int(truncatingIfNeeded: hash >> 40) & (recentCount - 1)
  }

  private mutating func forgetRecent() {
    for place in recent.indices { recent[place].statement = nil }
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
    forgetRecent()
  }

  /// Drops every statement; those in use stay alive with whoever uses them.
  mutating func removeAll() {
    statements = [:]
    forgetRecent()
  }
}
