import Foundation
import Glibc
import ProcessHarness
import SharedFileCoordination
import Testing

extension Locks {
  @Suite struct ScopeTests {
    @Test func `a directory means all databases in it`() async throws {
      try await LockScene.with { scene in
        let first = try await scene.opened("one", scene.file("one.db"))
        let second = try await scene.opened("two", scene.file("two.db"))
        try "nothing of ours".write(
          toFile: scene.file("other-lock"), atomically: true, encoding: .utf8)
        let shown = try await scene.locks("--json", scene.directory)
        #expect(shown.status == .exited(0))
        let databases = shown.whole["databases"]?.list ?? []
        #expect(
          databases.map { $0["path"]?.string } == [scene.file("one.db"), scene.file("two.db")])
        for (database, own, stranger) in zip3(databases, [first, second], [second, first]) {
          #expect(database.process(own.pid) != nil)
          #expect(database.process(stranger.pid) == nil)
        }
      }
    }

    @Test func `without an argument every database in use is found`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.opened("somewhere")
        let idle = try await scene.opened("closed", scene.file("closed.db"))
        try await idle.perform("close")
        let shown = try await scene.locks("--json")
        let databases = shown.whole["databases"]?.list ?? []
        let ours = databases.filter { $0["path"]?.string?.hasPrefix(scene.directory) == true }
        #expect(ours.map { $0["path"]?.string } == [scene.path])
        #expect(ours.first?.process(worker.pid)?["label"] == "somewhere")
      }
    }

    @Test func `the log, its index and the lock file stand for their database`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.opened("worker")
        for suffix in ["-wal", "-shm", "-lock"] {
          let shown = try await scene.locks("--json", scene.path + suffix)
          #expect(shown.database["path"]?.string == scene.path)
        }
      }
    }

    @Test(arguments: ["missing.db", "text.txt", "empty directory"])
    func `what is not there or no database is an error of its own`(name: String) async throws {
      try await LockScene.with { scene in
        try "just text, and long enough to have a head".write(
          toFile: scene.file("text.txt"), atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(
          atPath: scene.file("empty directory"), withIntermediateDirectories: true)
        let shown = try await scene.locks(scene.file(name))
        #expect(shown.status == .exited(2))
        #expect(shown.errors.contains(scene.file(name)), "\(shown.errors)")
        #expect(shown.lines.isEmpty)
      }
    }

    @Test func `a database that this library does not use shows SQLite's locks`() async throws {
      try await LockScene.with { scene in
        let shell = try await scene.shell(
          "PRAGMA journal_mode = WAL; CREATE TABLE t (a); BEGIN; SELECT count(*) FROM t;")
        let shown = try await scene.locks("--json", scene.path)
        #expect(shown.status == .exited(0))
        #expect(shown.database["lock_file"]?["condition"] == "missing")
        #expect(shown.database["changes"] == nil)
        #expect(
          shown.database.sqliteLocks(of: shell.processID) == ["attached", "read_mark", "shared"])
      }
    }

    @Test(arguments: [
      "with space.db", "quote'\"s.db", "line\nbreak.db", "100%?#&.db", "ünïcödé 🗄.db", "file:x.db",
    ])
    func `odd names are read and shown as they are`(name: String) async throws {
      try await LockScene.with { scene in
        let path = scene.file(name)
        let worker = try await scene.holding("odd", path)
        let shown = try await scene.locks("--json", path)
        #expect(shown.status == .exited(0), "\(shown.errors)")
        #expect(shown.database["path"]?.string == path)
        #expect(shown.database["write_lease"]?["holder"]?["pid"]?.int == Int(worker.pid))
        #expect((shown.database["changes"]?["last_token"]?.int ?? 0) > 0, "\(shown.database)")
        let all = try await scene.locks("--json").whole["databases"]?.list ?? []
        #expect(all.contains { $0["path"]?.string == path })
        let text = try await scene.locks(path)
        #expect(text.lines.first?.contains("\u{240A}") == name.contains("\n"))
      }
    }

    @Test(.enabled(if: geteuid() == 0 && Tool.setpriv.isThere))
    func `a user who may not look says so`() async throws {
      try await LockScene.with { scene in
        let worker = try await scene.holding("root's")
        let program = try scene.copyOfProgram()
        let shown = try await scene.finish(
          scene.children.start(
            ChildCommand("setpriv", Tool.nobody + [program, "--json", scene.path])))
        #expect(shown.status == .exited(2))
        #expect(shown.errors.contains("cannot be read by this user"), "\(shown.errors)")
        #expect(shown.whole["user"]?.string != "root")
        let unseen = (shown.database["unseen"]?.list ?? []).compactMap { $0["what"]?.string }
        #expect(unseen.contains { $0.contains("of other users") }, "\(unseen)")
        // The kernel's list is for everyone: SQLite's own locks are seen all the same.
        #expect(shown.database.sqliteLocks(of: worker.pid).contains("write"))
      }
    }

    @Test(.enabled(if: geteuid() == 0 && Tool.setpriv.isThere))
    func `a user sees one's own processes without being root`() async throws {
      try await LockScene.with { scene in
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o777], ofItemAtPath: scene.directory)
        let child = try await scene.children.start(
          built: "boutique-test-worker", ["--user", "65534"])
        let worker = try await scene.opened("nobody's", in: child)
        try await worker.hold()
        let program = try scene.copyOfProgram()
        let shown = try await scene.finish(
          scene.children.start(
            ChildCommand("setpriv", Tool.nobody + [program, "--json", scene.path])))
        #expect(shown.status == .exited(0), "\(shown.errors)")
        #expect(shown.database["write_lease"]?["holder"]?["pid"]?.int == Int(worker.pid))
        #expect(shown.database.process(worker.pid)?["user_id"]?.int == 65_534)
      }
    }
  }
}

/// Programs of the system that some tests need.
enum Tool: String {
  case setpriv
  case strace
  case unshare
  case script

  static let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]

  var isThere: Bool {
    let directories = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return directories.contains { access("\($0)/\(rawValue)", X_OK) == 0 }
  }
}

extension LockScene {
  /// Copies the program to where every user may run it.
  func copyOfProgram() throws -> String {
    let copy = file("boutique-locks")
    try FileManager.default.copyItem(
      atPath: BuiltExecutable.path("boutique-locks"), toPath: copy)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy)
    return copy
  }
}

private func zip3<A, B, C>(_ a: [A], _ b: [B], _ c: [C]) -> [(A, B, C)] {
  zip(a, zip(b, c)).map { ($0, $1.0, $1.1) }
}
