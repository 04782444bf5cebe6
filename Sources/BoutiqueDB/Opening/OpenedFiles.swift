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
  init(path: String) throws {
    self.path = path
    guard let database = FileIdentity.of(path: path) else {
      throw BoutiqueError.fileReplaced(path: path, message: "it was deleted while it was opened")
    }
    self.database = database
    wal = FileIdentity.of(path: path + "-wal")
    shm = FileIdentity.of(path: path + "-shm")
  }

  /// Throws ``BoutiqueError/fileReplaced(path:message:)`` when a path names another file now.
  func check() throws {
    try compare(path, database)
    if let wal { try compare(path + "-wal", wal) }
    if let shm { try compare(path + "-shm", shm) }
  }

  private func compare(_ path: String, _ opened: FileIdentity) throws {
    let now = FileIdentity.of(path: path)
    guard now != opened else { return }
    throw BoutiqueError.fileReplaced(
      path: self.path, message: now == nil ? "\(path) was deleted" : "\(path) was replaced")
  }
}
