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
