import Foundation
import LockInspection
import ProcessHarness
import Testing

/// The manual page as the promise of what `--json` writes.
private struct ManualPage {
  let text: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    text = try String(contentsOf: root.appending(path: "docs/boutique-locks.1"), encoding: .utf8)
  }

  /// The section about JSON.
  var section: Substring {
    let start = text.range(of: "\n.SH JSON\n")?.upperBound ?? text.endIndex
    let end = text.range(of: "\n.SH FILES\n")?.lowerBound ?? text.endIndex
    return text[start..<end]
  }

  /// The members named there in bold: `queue[].place`.
  var members: Set<String> {
    var members: Set<String> = []
    for line in section.split(separator: "\n") where line.hasPrefix(".B ") || line.hasPrefix(".BR ")
    {
      for word in line.split(separator: " ").dropFirst() {
        let name = word.trimmingCharacters(in: ["\"", ","])
        if name.first?.isLetter == true { members.insert(name) }
      }
    }
    return members
  }

  /// Those that are said to be a process.
  var processes: Set<String> {
    var found: Set<String> = ["waits[].waiter", "waits[].blocker", "cycles[][]"]
    found.formUnion(["write_lease.also_held_by[]", "migration_lease.also_held_by[]"])
    found.formUnion(members.filter { $0.hasSuffix(".holder") || $0.hasSuffix("].process") })
    return found
  }
}

extension JSONValue {
  /// The paths of all members, with `[]` for each list, processes under one name.
  fileprivate func paths(_ prefix: String = "", processes: Set<String>) -> Set<String> {
    let prefix = processes.contains(prefix) ? "process" : prefix
    switch self {
    case .object(let members):
      return members.reduce(into: prefix.isEmpty ? [] : [prefix]) { paths, member in
        let path = prefix.isEmpty ? member.key : "\(prefix).\(member.key)"
        paths.formUnion(member.value.paths(path, processes: processes))
      }
    case .list(let values):
      return values.reduce(into: [prefix + "[]"]) { paths, value in
        paths.formUnion(value.paths(prefix + "[]", processes: processes))
      }
    default:
      return [prefix]
    }
  }
}

extension Locks {
  @Suite struct JSONFormTests {
    @Test func `every member written is one that the manual page names`() async throws {
      let page = try ManualPage()
      let (documented, processes) = (page.members, page.processes)
      try await LockScene.with { scene in
        // Somebody dead, somebody foreign, a holder, a waiter.
        let dead = try await scene.opened("dead")
        let reader = try await scene.shell("BEGIN; SELECT count(*) FROM note;")
        let holder = try await scene.opened("holder")
        try await holder.perform("exec", ["sql": "INSERT INTO note (body) VALUES ('x')"])
        try await holder.hold()
        let waiter = try await scene.opened("waiter")
        // Later, or its slot would be the waiter's.
        await dead.child.end()
        waiter.beginWrite()
        try await scene.waitUntilInLine(waiter)
        let whole = try await scene.locks("--json", scene.path).whole
        var found = whole.paths(processes: processes)
        found.formUnion(
          Set(scene.database(whole).paths(processes: processes)))
        // A database's own members are named without the list that they are in.
        found = found.filter { !$0.hasPrefix("databases[]") || $0 == "databases[]" }
        let containers: Set = ["databases", "process", "cycles[]"]
        let unknown = found.filter { path in
          !documented.contains(path) && !containers.contains(path)
            // A list is named by what it is a list of.
            && !documented.contains(path + "[]") && !documented.contains(path + "[][]")
            && !documented.contains { $0.hasPrefix(path + "[].") || $0.hasPrefix(path + ".") }
        }
        #expect(unknown.isEmpty, "\(unknown.sorted())")
        let expected = [
          "process.pid", "process.pid_namespace", "process.label", "process.state", "version",
          "time",
          "user", "bound_seconds", "exit_status", "waits[].resource", "waits[].seconds", "path",
          "is_there", "database_bytes", "journal_mode", "lock_file.path", "lock_file.condition",
          "lock_file.slot_count", "lock_file.commit_counter", "processes[].pid",
          "processes[].pid_namespace", "processes[].parent_pid", "processes[].user_id",
          "processes[].user", "processes[].label", "processes[].command", "processes[].state",
          "processes[].role", "processes[].slot", "processes[].open_for_seconds",
          "processes[].running_for_seconds", "processes[].token", "processes[].files[]",
          "write_lease.purpose", "write_lease.held_for_seconds", "queue[].place",
          "queue[].waiting_for_seconds", "queue[].is_passed_over", "leftovers[].slot",
          "leftovers[].command", "sqlite_locks[].name", "sqlite_locks[].mark",
          "sqlite_locks[].is_exclusive", "sqlite_locks[].is_waiting", "sqlite_locks[].is_member",
          "log.bytes", "log.page_bytes", "log.frames", "log.checkpointed_frames",
          "log.uncheckpointed_frames", "log.readers[].mark", "log.readers[].frame",
          "log.readers[].frames_behind", "log.readers[].holds_log_back", "changes.first_token",
          "changes.last_token", "findings[].kind", "findings[].severity", "findings[].text",
        ]
        for path in expected { #expect(found.contains(path), "\(path)") }
        #expect(reader.signal(0))
      }
    }

    @Test func `every word that a member can have is in the manual page`() throws {
      let section = try ManualPage().section
      let words =
        Finding.Kind.allCases.map(\.rawValue) + Finding.Severity.allCases.map(\.rawValue)
        + ProcessFacts.Role.allCases.map(\.rawValue) + ProcessFacts.File.allCases.map(\.rawValue)
        + LockFileFacts.Condition.allCases.map(\.rawValue)
        + SQLiteLockFacts.Name.allCases.map(\.rawValue)
        + DatabaseInspection.JournalMode.allCases.map(\.rawValue)
        + ProcessReference.PidNamespace.allCases.map(\.rawValue)
      let known = Set(
        section.split { !($0.isLetter || $0 == "_") }.map { String($0) })
      for word in words { #expect(known.contains(word), "\(word)") }
    }

    @Test func `what is written can be read back into the model`() async throws {
      try await LockScene.with { scene in
        _ = try await scene.holding("holder")
        let text = try await scene.locks("--json", scene.path).lines.first ?? ""
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let inspection = try decoder.decode(Inspection.self, from: Data(text.utf8))
        #expect(inspection.version == Inspection.formatVersion)
        #expect(inspection.databases.first?.writeLease?.holder?.label == "holder")
      }
    }

    @Test func `the options of the help text are those of the manual page`() async throws {
      let page = try ManualPage().text.replacing("\\-", with: "-").replacing("\\fB", with: "")
      try await LockScene.with { scene in
        let help = try await scene.locks("--help").text
        let options = help.split { $0.isWhitespace || $0 == "=" || $0 == "," }
          .filter { $0.hasPrefix("--") && $0.count > 3 }
        #expect(options.count > 8)
        for option in Set(options) { #expect(page.contains(option), "\(option)") }
      }
    }
  }
}

extension LockScene {
  /// The only database of a JSON output.
  fileprivate func database(_ whole: JSONValue) -> JSONValue {
    whole["databases"]?.list?.first ?? .null
  }
}
