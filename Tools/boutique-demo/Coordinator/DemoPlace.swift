import Glibc

/// Where the demo takes place: the tree that is indexed, and the database.
///
/// Making one changes the working directory to the tree: all paths of files are relative to it.
struct DemoPlace: Sendable {
  /// The tree's absolute path, for people.
  let tree: String
  /// The database's absolute path.
  let database: String
  /// The directory that was made for the database, nil when the user named a path.
  let scratch: String?
  /// Set when the database is inside the tree: how its files' paths begin there.
  let excludedPrefix: [UInt8]?

  init(_ settings: DemoProgram.Settings, directory: [UInt8]?) throws {
    let tree: [UInt8]
    if let directory {
      tree = try Self.resolve(directory)
    } else {
      tree = try Self.defaultTree(isQuick: settings.isQuick)
    }
    try Self.checkTree(tree)
    self.tree = String(decoding: tree, as: UTF8.self)
    let database: [UInt8]
    if let path = settings.database {
      database = try Self.newFile(path)
      scratch = nil
    } else {
      let directory = try Self.makeScratch()
      database = directory + Array("/files.db".utf8)
      scratch = String(decoding: directory, as: UTF8.self)
    }
    self.database = String(decoding: database, as: UTF8.self)
    let inside = tree == [UInt8(ascii: "/")] ? tree : tree + [UInt8(ascii: "/")]
    excludedPrefix = database.starts(with: inside) ? Array(database.dropFirst(inside.count)) : nil
    guard chdir(CPath.text(tree)) == 0 else { throw SystemCallFailure("chdir", self.tree) }
  }

  /// Removes the database and its side files.
  func remove() {
    for suffix in ["", "-wal", "-shm", "-lock", "-journal"] { unlink(database + suffix) }
    if let scratch { rmdir(scratch) }
  }

  // MARK: The tree

  private static func defaultTree(isQuick: Bool) throws -> [UInt8] {
    let whole = Array("/usr/share".utf8)
    guard isQuick else { return try resolve(whole) }
    // The first that has enough files to be interesting; small systems lack the one or the other.
    for candidate in ["/usr/share/doc", "/usr/include", "/usr/share/man"] {
      guard let path = try? resolve(Array(candidate.utf8)), chdir(CPath.text(path)) == 0,
        var walk = try? TreeWalk(excluding: nil)
      else { continue }
      var count = 0
      while count < 1000, walk.next() != nil { count += 1 }
      if count == 1000 { return path }
    }
    return try resolve(whole)
  }

  private static func checkTree(_ path: [UInt8]) throws {
    let shown = String(decoding: path, as: UTF8.self)
    var information = stat()
    guard stat(CPath.text(path), &information) == 0 else { throw SystemCallFailure("stat", shown) }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw DemoFailure("\(shown) is not a directory")
    }
    guard access(CPath.text(path), R_OK | X_OK) == 0 else {
      throw SystemCallFailure("access", shown)
    }
    if let name = MountTable.fileSystem(of: information.st_dev), kernelTables.contains(name) {
      throw DemoFailure(
        """
        \(shown) is a table of the kernel (\(name)), whose files are made as they are read; \
        choose a directory with real files
        """)
    }
  }

  /// File systems without files of their own.
  private static let kernelTables: Set<String> = [
    "proc", "sysfs", "debugfs", "tracefs", "cgroup", "cgroup2", "devpts", "devtmpfs", "securityfs",
    "pstore", "bpf", "configfs", "nsfs", "efivarfs", "mqueue", "fusectl", "binfmt_misc",
  ]

  private static func resolve(_ path: [UInt8]) throws -> [UInt8] {
    guard let resolved = realpath(CPath.text(path), nil) else {
      throw SystemCallFailure("realpath", String(decoding: path, as: UTF8.self))
    }
    defer { free(resolved) }
    return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
  }

  // MARK: The database

  private static func makeScratch() throws -> [UInt8] {
    var base = "/tmp"
    if let set = getenv("TMPDIR"), set.pointee != 0 { base = String(cString: set) }
    var template = CPath.text(Array("\(base)/boutique-demo.XXXXXX".utf8))
    guard mkdtemp(&template) != nil else { throw SystemCallFailure("mkdtemp", base) }
    return try resolve(template.dropLast().map { UInt8(bitPattern: $0) })
  }

  private static func newFile(_ path: String) throws -> [UInt8] {
    let bytes = Array(path.utf8)
    let end = bytes.lastIndex(of: UInt8(ascii: "/"))
    let name = bytes[(end.map { $0 + 1 } ?? 0)...]
    guard !name.isEmpty else { throw DemoFailure("--database: “\(path)” names no file") }
    let parent = end.map { Array(bytes[...$0]) } ?? Array(".".utf8)
    let full = try resolve(parent) + [UInt8(ascii: "/")] + name
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let file = full + Array(suffix.utf8)
      if access(CPath.text(file), F_OK) == 0 {
        throw DemoFailure(
          """
          \(String(decoding: file, as: UTF8.self)) exists already, and the demo overwrites nothing; \
          name another file or remove it
          """)
      }
    }
    return full
  }
}
