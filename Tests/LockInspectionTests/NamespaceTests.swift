import Glibc
import ProcessHarness
import Testing

extension Locks {
  /// Processes in pid namespaces of their own, as containers have them.
  @Suite(.enabled(if: Namespace.isPermitted)) struct NamespaceTests {
    @Test func `a holder outside is said to be of another namespace`() async throws {
      try await LockScene.with { scene in
        let holder = try await scene.holding("outside")
        let shown = try await scene.locks(
          through: ["unshare"] + Namespace.options, "--json", scene.path)
        #expect(shown.status == .exited(0), "\(shown.errors)")
        let lease = try #require(shown.database["write_lease"])
        #expect(lease["holder"]?["pid"]?.int == Int(holder.pid))
        #expect(lease["holder"]?["pid_namespace"] == "other")
        #expect(lease["holder"]?["state"] == "unknown")
        let locks = shown.database["sqlite_locks"]?.list ?? []
        #expect(locks.contains { $0["name"] == "write" && $0["process"] == nil }, "\(locks)")
        let text = try await scene.locks(through: ["unshare"] + Namespace.options, scene.path)
        #expect(text.text.contains("of another pid namespace"), "\(text.text)")
        #expect(text.text.contains("not seen:"), "\(text.text)")
      }
    }

    @Test func `a holder inside is found under the number it has here`() async throws {
      try await LockScene.with { scene in
        let program = try BuiltExecutable.path("boutique-test-worker")
        let child = try await scene.children.start(
          ChildCommand(
            "unshare", Namespace.options + ["env", "-u", "PROCESS_HARNESS_PID", program]))
        let worker = try await scene.opened("inside", in: child)
        try await worker.hold()
        let database = try await scene.json()
        let lease = try #require(database["write_lease"])
        #expect(lease["holder"]?["pid_namespace"] == "own")
        let process = try #require(
          database["processes"]?.list?.first { $0["label"] == "inside" })
        #expect(process["inner_pid"]?.int == 1)
        #expect(process["pid"] == lease["holder"]?["pid"])
        #expect(process["parent_pid"]?.int == Int(child.processID))
        #expect(process["state"] == "sleeping")
      }
    }
  }
}

/// Whether this user may make pid namespaces.
enum Namespace {
  static let options = ["--pid", "--fork", "--mount-proc", "--kill-child"]

  static let isPermitted: Bool = {
    guard geteuid() == 0, Tool.unshare.isThere else { return false }
    return system("unshare \(options.joined(separator: " ")) true >/dev/null 2>&1") == 0
  }()
}

extension Locks {
  /// Processes that see other files under the same names.
  @Suite(.enabled(if: Namespace.isPermitted)) struct MountNamespaceTests {
    @Test func `a database that only a container sees is found through it and not mixed up`()
      async throws
    {
      try await LockScene.with { scene in
        // The directory is another one in there, with a database of the same name.
        let program = try BuiltExecutable.path("boutique-test-worker")
        let child = try await scene.children.start(
          ChildCommand(
            "unshare",
            ["--mount"] + Namespace.options + [
              "sh", "-c", "mount -t tmpfs none \"$1\" && exec env -u PROCESS_HARNESS_PID \"$0\"",
              program, scene.directory,
            ]))
        let inside = try await scene.opened("inside", in: child)
        let outside = try await scene.opened("outside")
        for number in 1...30 {
          try await outside.perform(
            "exec", ["sql": .text("INSERT INTO note VALUES (\(number), 'x')")])
        }
        try await inside.hold()

        let here = try await scene.json()
        #expect(here["processes"]?.list?.compactMap { $0["label"]?.string } == ["outside"])
        #expect(here["lock_file"]?["condition"] == "good")
        #expect(here["write_lease"] == nil)

        let all = try await scene.locks("--json").whole["databases"]?.list ?? []
        let there = try #require(
          all.first {
            $0["path"]?.string?.hasPrefix("/proc/") == true
              && $0["path"]?.string?.hasSuffix(scene.path) == true
          })
        #expect(there["processes"]?.list?.compactMap { $0["label"]?.string } == ["inside"])
        #expect(there["write_lease"]?["holder"]?["label"] == "inside")
        // Its own change log, not that of the file with the same name here.
        let last = try #require(there["changes"]?["last_token"]?.int)
        #expect(last < (here["changes"]?["last_token"]?.int ?? 0))
      }
    }
  }
}

extension Locks {
  /// File systems whose files the kernel's list of locks has under another device than `stat`.
  @Suite(.enabled(if: Namespace.canMountOverlay)) struct OverlayTests {
    @Test func `on an overlay file system holder, purpose and SQLite's locks are found`()
      async throws
    {
      try await LockScene.with { scene in
        let program = try BuiltExecutable.path("boutique-test-worker")
        let child = try await scene.children.start(
          ChildCommand(
            "unshare",
            ["--mount"] + Namespace.options + [
              "sh", "-c", "\(Namespace.overlay) && exec env -u PROCESS_HARNESS_PID \"$0\"", program,
              scene.directory,
            ]))
        let worker = try await scene.opened("on an overlay", in: child)
        try await worker.hold()
        let all = try await scene.locks("--json").whole["databases"]?.list ?? []
        let database = try #require(
          all.first { $0["path"]?.string?.hasSuffix(scene.path) == true })
        let lease = try #require(database["write_lease"])
        #expect(lease["holder"]?["label"] == "on an overlay")
        #expect((lease["held_for_seconds"]?.double ?? -1) > 0)
        #expect(lease["purpose"]?.string?.isEmpty == false)
        let pid = pid_t(try #require(lease["holder"]?["pid"]?.int))
        #expect(database.sqliteLocks(of: pid).isSuperset(of: ["write", "attached", "shared"]))
      }
    }
  }
}

extension Namespace {
  /// Puts an overlay over the directory `$1`.
  static let overlay = """
    mount -t tmpfs none "$1" && mkdir "$1/lower" "$1/upper" "$1/work" "$1/all" && \
    mount -t overlay none -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/all" && \
    mount --move "$1/all" "$1"
    """

  static let canMountOverlay: Bool = {
    guard isPermitted else { return false }
    let script = "d=$(mktemp -d); set -- - \"$d\"; shift; \(overlay); r=$?; exit $r"
    return system("unshare --mount sh -c '\(script)' >/dev/null 2>&1") == 0
  }()
}
