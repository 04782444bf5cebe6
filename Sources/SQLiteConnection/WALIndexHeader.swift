internal import CSQLite

/// The state of the write-ahead log, as the index shared by all connections has it.
package struct WALIndexHeader: Equatable, Sendable {
  /// How far back readers look, one mark for each of SQLite's five reader locks.
  package struct ReadMarks: Equatable, Sendable {
    /// Always zero: readers of the database file alone.
    package var mark0: UInt32
    /// A frame up to which readers may look; all ones when unused.
    package var mark1: UInt32
    /// A frame up to which readers may look; all ones when unused.
    package var mark2: UInt32
    /// A frame up to which readers may look; all ones when unused.
    package var mark3: UInt32
    /// A frame up to which readers may look; all ones when unused.
    package var mark4: UInt32
  }

  /// Grows by one with every commit of any process; recovery may set it back.
  package var change: UInt32
  /// The number of valid frames; zero again when the log starts anew.
  package var maxFrame: UInt32
  /// Bytes in a page.
  package var pageSize: UInt32
  /// Pages in the database.
  package var pageCount: UInt32
  /// The first salt of the log; the salts change when the log starts anew.
  package var salt1: UInt32
  /// The second salt of the log.
  package var salt2: UInt32
  /// Frames that a checkpoint has copied into the database.
  ///
  /// Not guarded by the header's checksum: it may be newer than the rest.
  package var backfilledFrames: UInt32
  /// How far back readers look; not guarded by the header's checksum.
  package var readMarks: ReadMarks
}

extension Connection {
  /// Returns the header of the log's index, or `nil` when there is none yet.
  ///
  /// Costs some tens of nanoseconds and neither a lock nor an allocation. There is none before the
  /// connection's first read, outside WAL mode, and for databases in memory. Not for connections
  /// with `locking_mode = EXCLUSIVE`, which keep their index to themselves.
  package func walIndexHeader() -> WALIndexHeader? {
    guard let database = handle.database else { return nil }
    var index = boutique_sqlite_wal_index()
    guard boutique_sqlite_read_wal_index(database, rollbackJournal, &index) != 0 else {
      return nil
    }
    return WALIndexHeader(
      change: index.change, maxFrame: index.maxFrame, pageSize: index.pageSize,
      pageCount: index.pageCount, salt1: index.salt1, salt2: index.salt2,
      backfilledFrames: index.backfilledFrames,
      readMarks: .init(
        mark0: index.readMark0, mark1: index.readMark1, mark2: index.readMark2,
        mark3: index.readMark3, mark4: index.readMark4))
  }
}

extension Connection {
  /// How large the log is, by SQLite's own descriptor of it; nil when it is not open.
  package func logSize() -> Int64? {
    guard let database = handle.database else { return nil }
    let size = boutique_sqlite_log_size(database, rollbackJournal)
    return size < 0 ? nil : size
  }
}

/// What tells one commit from every other, in the log that all connections share.
package struct WALCommitMark: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  fileprivate init(_ mark: boutique_sqlite_commit_mark) { words = mark.words }

  /// The change counter, as in ``WALIndexHeader/change``.
  package var change: UInt32 {
    // The first of the copied words, in the order in which they lie in memory.
    withUnsafeBytes(of: words.0) { $0.load(as: UInt32.self) }
  }

  /// Whether both are of the same commit.
  package static func == (a: WALCommitMark, b: WALCommitMark) -> Bool { a.words == b.words }

  /// Feeds all that is compared.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

/// Where the log's index is in this process's memory.
///
/// `@unchecked Sendable`: the memory is SQLite's and shared with other processes anyway; it is only read, and
/// in a way that notices a write in between. It must not be used once the process's last connection to the
/// file may have closed; whoever keeps one of these sees to that.
package struct WALIndexRegion: @unchecked Sendable {
  private let pointer: UnsafeRawPointer

  /// The newest commit; nil in the rare moment in which nobody can tell.
  ///
  /// Costs some tens of nanoseconds.
  package var commitMark: WALCommitMark? {
    var mark = boutique_sqlite_commit_mark()
    guard boutique_sqlite_read_commit_mark(pointer, &mark) != 0 else { return nil }
    return WALCommitMark(mark)
  }

  fileprivate init(_ pointer: UnsafeRawPointer) { self.pointer = pointer }
}

extension Connection {
  /// Returns where the log's index is; nil where ``walIndexHeader()`` gives nothing.
  package func walIndexRegion() -> WALIndexRegion? {
    guard let database = handle.database,
      let region = boutique_sqlite_wal_index_region(database, rollbackJournal)
    else { return nil }
    return WALIndexRegion(region)
  }
}
