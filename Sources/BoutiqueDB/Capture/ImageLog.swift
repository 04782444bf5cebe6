import SQLiteConnection

/// The table `boutiquedb_image`: the rows before and after of changes in tables that keep them.
///
/// Its `change_id` is the change's number in the log. The rows are written in the transaction that makes the
/// change, and go with the log's row.
enum ImageLog {
  /// Writes what a transaction has gathered.
  ///
  /// - Parameter first: the number of its first change.
  static func write(_ collector: ChangeCollector, first: Int64, on sqlite: Connection) throws {
    var insert: PreparedStatement?
    defer { insert?.reset() }
    try collector.forEachImage { place, image in
      guard image.before != nil || image.after != nil || image.updates != nil else { return }
      let statement =
        try insert
        ?? sqlite.prepare(
          """
          INSERT INTO boutiquedb_image (change_id, before, after, updates) VALUES (?1, ?2, ?3, ?4)
          """)
      insert = statement
      try statement.bind(first + Int64(place), at: 1)
      try statement.bind(record: image.before, at: 2)
      try statement.bind(record: image.after, at: 3)
      try statement.bind(record: image.updates, at: 4)
      _ = try statement.step()
      statement.rewind()
    }
  }
}

extension PreparedStatement {
  fileprivate func bind(record: UnsafeRawBufferPointer?, at index: Int32) throws(SQLiteError) {
    if let record { try bind(blob: record, at: index) } else { try bindNull(at: index) }
  }
}
