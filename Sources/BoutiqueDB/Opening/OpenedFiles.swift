import SQLiteConnection
import SharedFileCoordination

/// The identity of the files that were opened, compared with what their paths name now.
///
/// SQLite keeps writing to a file that was deleted or replaced, and those commits are lost (measured:
/// accepted, acknowledged, gone). So device and inode are compared before each write, with the lease
/// held, and at each wake-up. Only `stat` is used; a descriptor of these files would be dangerous.
struct OpenedFiles: Sendable {
  let path: String
  private let database: FileIdentity
  private let wal: FileIdentity?
  private let shm: FileIdentity?

  /// Remembers the files as they are now.
  ///
  /// Call with a connection open that has read once.
  ///
  /// - Parameter followsSideFiles: false where nothing holds the side files in their place.
  init(path: String, followsSideFiles: Bool = true) throws {
    self.path = path
    guard let database = FileIdentity.of(path: path) else {
      throw BoutiqueError.fileReplaced(path: path, message: "it was deleted while it was opened")
    }
    self.database = database
    wal = followsSideFiles ? FileIdentity.of(path: path + "-wal") : nil
    shm = followsSideFiles ? FileIdentity.of(path: path + "-shm") : nil
  }

  /// Throws ``BoutiqueError/fileReplaced(path:message:)`` when a path names another file now.
  func check() throws {
    try compare(path, database)
    if let wal { try compare(path + "-wal", wal) }
    if let shm { try compare(path + "-shm", shm) }
  }

  /// Throws when the log is shorter than its index says: somebody has cut it, and a checkpoint would copy
  /// the hole over good pages.
  ///
  /// Frames are 24 bytes and a page, after a header of 32 bytes (SQLite, WAL-mode file format, 4). A
  /// truncating checkpoint of another program resets the index first and cuts the file then, so the index
  /// is read before and after the size, and counts only when it has not changed.
  func checkLog(of sqlite: Connection) throws {
    guard wal != nil else { return }
    for _ in 0..<16 {
      guard let header = sqlite.walIndexHeader(), header.maxFrame > 0 else { return }
      let needed = 32 + Int64(header.maxFrame) * (Int64(header.pageSize) + 24)
      // Of the file that is open: whether it is the one at the path is for `check` to see.
      let size = sqlite.logSize() ?? FileFacts.size(path + "-wal")
      if size >= needed { return }
      guard let again = sqlite.walIndexHeader(), again.maxFrame == header.maxFrame,
        again.salt1 == header.salt1, again.salt2 == header.salt2
      else { continue }
      throw BoutiqueError.fileReplaced(
        path: path, message: "\(path)-wal was cut to \(size) of \(needed) bytes")
    }
  }

  /// Throws when the path of the database names another file now.
  func checkDatabase() throws { try compare(path, database) }

  private func compare(_ path: String, _ opened: FileIdentity) throws {
    let now = FileIdentity.of(path: path)
    guard now != opened else { return }
    throw BoutiqueError.fileReplaced(
      path: self.path, message: now == nil ? "\(path) was deleted" : "\(path) was replaced")
  }
}
