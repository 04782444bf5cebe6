import Foundation
import Glibc
import Synchronization

/// Has what is still on its way written when a program ends in order: by `exit`, or at the end of `main`.
///
/// Whoever sets a value and ends expects it to be stored. A program that is killed, or ends by `_exit`, does not
/// come here; nor does a child made by `fork`, whose changes are its parent's.
enum SettingsAtExit {
  /// How long the end of a program waits at most, for each database.
  static let bound = Duration.seconds(5)

  private struct State {
    var process: pid_t?
    var lines: [WeakLine] = []
  }

  private struct WeakLine {
    weak var line: SettingsLine?
  }

  private static let state = Mutex(State())

  /// Waits for a line at the program's end from now on.
  static func include(_ line: SettingsLine) {
    let isFirst = state.withLock { state in
      state.lines.removeAll { $0.line == nil || $0.line === line }
      state.lines.append(WeakLine(line: line))
      defer { state.process = getpid() }
      return state.process == nil
    }
    if isFirst { atexit { SettingsAtExit.finish() } }
  }

  private static func finish() {
    let lines = state.withLock { $0.process == getpid() ? $0.lines.compactMap(\.line) : [] }
    for line in lines {
      do {
        try line.waitUntilEmpty(for: bound)
      } catch {
        SettingsStorage.report(StoredValueProblem(path: line.location, key: nil, error: error))
      }
    }
  }
}
