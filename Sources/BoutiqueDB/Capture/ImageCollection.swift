import SQLiteConnection

/// The rows of one change, in SQLite's record format; valid while `body` of `forEachImage` runs.
struct RecordedImage {
  /// The change's number among those gathered.
  var number: Int
  var before: UnsafeRawBufferPointer?
  var after: UnsafeRawBufferPointer?
  /// A flag for each column, then the new values of those that changed.
  var updates: UnsafeRawBufferPointer?
}

/// The rows before and after that one transaction's changes have, one behind the other in one piece of
/// memory.
struct ImageCollection {
  private struct Entry {
    var number: Int
    var before: Range<Int>?
    var after: Range<Int>?
    var updates: Range<Int>?

    var end: Int { max(before?.upperBound ?? 0, after?.upperBound ?? 0, updates?.upperBound ?? 0) }
  }

  /// What a change takes beside its rows, roughly: entry, key, columns, and its part of the log's text.
  private static let overhead = 256

  private var entries: [Entry] = []
  private var buffer = RecordBuffer()

  var isEmpty: Bool { entries.isEmpty }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: entries.capacity <= 4096)
    buffer.removeAll()
  }

  /// Adds the rows that a table's mode asks for.
  ///
  /// - Parameter recorded: the change as it is in the log: an update of the key is a deletion and an
  ///   insertion there.
  /// - Returns: false when they would take more than `limit` bytes.
  mutating func append(
    _ change: borrowing PreupdateChange, as recorded: RecordedChange, shape: TableShape,
    number: Int, limit: Int
  ) -> Bool {
    let mode = shape.mode
    var entry = Entry(number: number)
    let limit = room(limit)
    guard limit > 0 else { return false }
    if mode.keepsBefore, recorded.kind != .insert {
      entry.before = change.appendOld(shape.columns, to: &buffer, limit: limit)
      if entry.before == nil { return false }
    }
    if mode.keepsAfter, recorded.kind != .delete {
      entry.after = change.appendNew(shape.columns, to: &buffer, limit: limit)
      if entry.after == nil { return false }
    }
    if mode == .full, recorded.kind == .update {
      entry.updates = change.appendUpdates(
        shape.columns, changed: recorded.columns, to: &buffer, limit: limit)
      if entry.updates == nil { return false }
    }
    entries.append(entry)
    return true
  }

  /// Adds the rows of a change of the schema.
  mutating func append(
    _ change: SchemaDifference.Change, mode: CaptureMode, number: Int, limit: Int
  ) -> Bool {
    var entry = Entry(number: number)
    let limit = room(limit)
    guard limit > 0 else { return false }
    if mode.keepsBefore, let before = change.before {
      entry.before = buffer.append(before.values, limit: limit)
      if entry.before == nil { return false }
    }
    if mode.keepsAfter, let after = change.after {
      entry.after = buffer.append(after.values, limit: limit)
      if entry.after == nil { return false }
    }
    if mode == .full, change.kind == .update, let after = change.after {
      let changed = Set(change.changedColumns)
      let flags = after.values.indices.map { SQLiteValue.integer(changed.contains($0) ? 1 : 0) }
      let values = after.values.indices.map { changed.contains($0) ? after.values[$0] : .null }
      entry.updates = buffer.append(flags + values, limit: limit)
      if entry.updates == nil { return false }
    }
    entries.append(entry)
    return true
  }

  private func room(_ limit: Int) -> Int { limit - entries.count * Self.overhead }

  /// Drops the images of the changes from a number on.
  mutating func rollBack(toChange number: Int) {
    guard let last = entries.last, last.number >= number else { return }
    while let last = entries.last, last.number >= number { entries.removeLast() }
    buffer.truncate(to: entries.last { $0.end > 0 }?.end ?? 0)
  }

  /// Drops the images of some changes and gives their memory back.
  mutating func remove(where isRemoved: (_ number: Int) -> Bool) {
    entries.removeAll { isRemoved($0.number) }
    var ranges = entries.flatMap { [$0.before, $0.after, $0.updates].compactMap { $0 } }
    buffer.keep(&ranges)
    var next = ranges.makeIterator()
    for index in entries.indices {
      if entries[index].before != nil { entries[index].before = next.next() }
      if entries[index].after != nil { entries[index].after = next.next() }
      if entries[index].updates != nil { entries[index].updates = next.next() }
    }
  }

  func withEach(_ body: (RecordedImage) throws -> Void) rethrows {
    try buffer.bytes.withUnsafeBytes { bytes in
      for entry in entries {
        try body(
          RecordedImage(
            number: entry.number,
            before: entry.before.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) },
            after: entry.after.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) },
            updates: entry.updates.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }))
      }
    }
  }
}

extension CaptureMode {
  /// Whether more is kept of a row than its key.
  var keepsRows: Bool { keepsBefore || keepsAfter }
  fileprivate var keepsBefore: Bool { self == .before || self == .full }
  fileprivate var keepsAfter: Bool { self == .after || self == .full }
}

extension SchemaDifference.Change {
  /// The positions of the columns of `sqlite_schema` that an update changed.
  var changedColumns: [Int] {
    guard let before, let after else { return [] }
    return after.values.indices.filter { before.values[$0] != after.values[$0] }
  }
}
