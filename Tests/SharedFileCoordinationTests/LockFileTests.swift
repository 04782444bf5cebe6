import CLinuxShims
import Foundation
import SharedFileCoordination
import Testing

@Suite struct LockFileTests {
  @Test func `the lock file lies beside the database with mode 0600 whatever the umask`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    #expect(file.path == scratch.lockFile)
    var facts = stat()
    #expect(stat(scratch.lockFile, &facts) == 0)
    #expect(facts.st_mode & 0o7777 == 0o600)
    #expect(Int(facts.st_size) == LockFileLayout.fileSize(slotCount: 128))
    #expect(file.slotNumber == 0)
    #expect(file.degradedReason == nil)
    #expect(file.unlistedReason == nil)
  }

  @Test func `a lock file for a group has mode 0660`() throws {
    let scratch = try Scratch()
    let file = try scratch.open(fileMode: 0o660)
    defer { file.close() }
    var facts = stat()
    #expect(stat(scratch.lockFile, &facts) == 0)
    #expect(facts.st_mode & 0o7777 == 0o660)
  }

  @Test func `a database that is a link has its lock file beside the real one`() throws {
    let scratch = try Scratch()
    try scratch.write([], to: scratch.database)
    let link = scratch.path + "/link.db"
    #expect(symlink(scratch.database, link) == 0)
    #expect(CoordinationFile.path(forDatabase: link) == scratch.lockFile)
    #expect(CoordinationFile.path(forDatabase: scratch.database) == scratch.lockFile)
  }

  @Test func `a symbolic link in the lock file's place is refused and not followed`() throws {
    let scratch = try Scratch()
    let target = scratch.path + "/precious"
    try scratch.write([1, 2, 3], to: target)
    #expect(symlink(target, scratch.lockFile) == 0)
    let error = #expect(throws: CoordinationError.self) { try scratch.open() }
    guard case .symbolicLink(scratch.lockFile) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try scratch.read(target) == [1, 2, 3])
  }

  @Test(arguments: ["directory", "fifo"])
  func `what is not a file is refused`(kind: String) throws {
    let scratch = try Scratch()
    if kind == "directory" {
      #expect(mkdir(scratch.lockFile, 0o700) == 0)
    } else {
      #expect(mkfifo(scratch.lockFile, 0o600) == 0)
    }
    let error = #expect(throws: CoordinationError.self) { try scratch.open() }
    guard case .notRegularFile = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a missing directory is said`() throws {
    let scratch = try Scratch()
    let error = #expect(throws: CoordinationError.self) {
      try CoordinationFile(databasePath: scratch.path + "/none/app.db")
    }
    guard case .directoryMissing(let path) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == scratch.path + "/none")
  }

  @Test(arguments: [(2 as UInt8, "newer"), (77, "newer")])
  func `a file of another layout version is left alone`(version: UInt8, word: String) throws {
    let scratch = try Scratch()
    let first = try scratch.open()
    first.close()
    var bytes = try scratch.read(scratch.lockFile)
    bytes[8] = version
    try scratch.write(bytes, to: scratch.lockFile)
    let error = #expect(throws: CoordinationError.self) { try scratch.open() }
    guard case .layoutVersion(_, UInt32(version), LockFileLayout.version) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try #require(error).description.contains(word))
    #expect(try scratch.read(scratch.lockFile) == bytes)
  }

  enum Damage: String, CaseIterable {
    case empty
    case cutInHeader
    case cutInSlots
    case zeroes
    case garbage
    case garbageAfterMagic
  }

  static func damage(_ kind: Damage, _ bytes: [UInt8]) -> [UInt8] {
    switch kind {
    case .empty: []
    case .cutInHeader: Array(bytes.prefix(20))
    case .cutInSlots: Array(bytes.prefix(5000))
    case .zeroes: [UInt8](repeating: 0, count: bytes.count)
    case .garbage: bytes.indices.map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
    case .garbageAfterMagic:
      Array(bytes.prefix(12)) + bytes.indices.dropFirst(12).map { UInt8(truncatingIfNeeded: $0) }
    }
  }

  @Test(arguments: Damage.allCases)
  func `a damaged file is made good at opening`(kind: Damage) throws {
    let scratch = try Scratch()
    try scratch.open().close()
    let before = try scratch.read(scratch.lockFile)
    try scratch.write(Self.damage(kind, before), to: scratch.lockFile)
    let file = try scratch.open()
    #expect(file.slotNumber == 0)
    #expect(file.report().isReadable)
    try file.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false }).finish()
  }

  @Test(arguments: Damage.allCases)
  func `a file damaged while it is in use is made good at the next turn`(kind: Damage) throws {
    let scratch = try Scratch()
    let file = try scratch.open(label: "first")
    let other = try scratch.open(label: "second")
    // In place, as a shell would do it: the same inode.
    let damaged = Self.damage(kind, try scratch.read(scratch.lockFile))
    let handle = try #require(FileHandle(forWritingAtPath: scratch.lockFile))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(damaged))
    try handle.close()
    for member in [file, other, file] {
      try member.writeLease.acquire(deadline: soon(), purpose: "", isCancelled: { false })
        .finish()
    }
    let report = file.report()
    #expect(report.isReadable)
    #expect(Set(report.members.map(\.process.label)) == ["first", "second"])
    #expect(report.members.count == 2)
  }

  @Test func `many who make the file at once all get a slot of the same file`() async throws {
    for _ in 0..<10 {
      let scratch = try Scratch()
      let workers = (0..<8).map { number in
        Worker { try scratch.open(label: "\(number)") }
      }
      let files = try workers.map { try $0.value() }
      #expect(Set(files.map(\.slotNumber)) == Set((0..<8).map(Optional.init)))
      #expect(Set(files.map(\.identity)).count == 1)
      for file in files { file.close() }
    }
  }

  @Test func `closing gives the slot up, twice does nothing, and use is refused`() throws {
    let scratch = try Scratch()
    let file = try scratch.open()
    let other = try scratch.open()
    #expect(other.slotNumber == 1)
    file.close()
    file.close()
    #expect(other.report().members.map(\.slot) == [1])
    #expect(try scratch.open().slotNumber == 0)
    let error = #expect(throws: CoordinationError.self) {
      try file.writeLease.acquire(deadline: nil, purpose: "", isCancelled: { false }).finish()
    }
    guard case .closed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can play another user"))
  func `a lock file that may not be written is done without, and said`() throws {
    let scratch = try Scratch()
    try scratch.open().close()
    let worker = Worker { () -> (String?, Bool) in
      // The user of this thread alone, for files alone (setfsuid(2)); root's rights go with it.
      clx_act_as_user(65534)
      let file = try scratch.open()
      let turn = try file.writeLease.acquire(
        deadline: BootClock.now(), purpose: "", isCancelled: { false })
      let degraded = turn.isDegraded
      turn.ring()
      turn.finish()
      file.ring()
      return (file.degradedReason, degraded)
    }
    let (reason, degraded) = try worker.value()
    #expect(degraded)
    #expect(reason?.contains("cannot be opened for writing") == true)
  }

  @Test func `errors name the call and the file`() {
    let error = CoordinationError.system(call: "pwrite", code: ENOSPC, path: "/x/app.db-lock")
    #expect(error.description.contains("pwrite"))
    #expect(error.description.contains("/x/app.db-lock"))
    #expect(error.description.contains("No space left"))
  }
}
