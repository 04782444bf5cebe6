import Foundation
import ProcessHarness

/// A program that knows nothing of the library, driven line by line.
///
/// It dies with the process that drives it: a python program asks the kernel for that first, and hands the
/// wish on to the shell, since it outlives `execve`.
enum ForeignProgram {
  /// Ends with the process that started it; where that has ended already, ends at once.
  private static let dying = """
    import ctypes, os, sys
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() == 1: sys.exit(1)

    """

  /// A Python program; `db` is a connection to the database with no transaction begun by itself.
  ///
  /// - Parameters:
  ///   - text: what it does; `say(value)` writes a line of JSON.
  ///   - database: the path.
  static func python(_ text: String, database: String, _ arguments: [String] = []) -> ChildCommand {
    let common = """
      import json, sqlite3, time
      def say(**value):
          sys.stdout.write(json.dumps(value) + "\\n")
          sys.stdout.flush()
      def connect():
          return sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)

      """
    return ChildCommand("python3", ["-c", dying + common + text, database] + arguments)
  }

  /// The `sqlite3` shell, with its errors among its answers; it ends at the first one.
  static func shell(
    database: String, endsAtError: Bool = true, settings: [String] = []
  ) -> ChildCommand {
    let bail = endsAtError ? "'-bail', " : ""
    let text =
      dying + """
        os.dup2(1, 2)
        os.execvp("sqlite3", ["sqlite3", "-batch", \(bail)"-cmd", ".timeout 60000", *sys.argv[2:], sys.argv[1]])

        """
    return ChildCommand(
      "python3", ["-c", text, database] + settings.flatMap { ["-cmd", $0] })
  }

  /// Starts a program, again and again for a while, since limits of the machine may prevent it.
  static func start(
    _ command: ChildCommand, _ children: ChildProcesses
  ) async throws -> ChildProcess {
    var attempts = 0
    while true {
      do {
        return try await children.start(command)
      } catch {
        attempts += 1
        if attempts > 1000 { throw error }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Runs a Python program to its end and returns its last line.
  static func result(
    _ text: String, database: String, input: String = "", _ arguments: [String] = []
  ) async throws -> JSONValue {
    try await withChildProcesses { children in
      let child = try await children.start(python(text, database: database, arguments))
      if !input.isEmpty { child.send(input) }
      child.closeInput()
      return try await child.nextMessage("the program's answer", within: .seconds(180)) { _ in true
      }
    }
  }
}
