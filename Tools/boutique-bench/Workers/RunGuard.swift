import CommandLineSupport
import Foundation
import Glibc
import Synchronization

/// Knows what a run would leave behind, and takes it away when the run ends, however it ends.
///
/// 1. Every worker is started and forgotten under the lock, and its number stays ours until it has
///    been waited for, which happens under the lock too: no signal ever hits a stranger.
/// 2. At SIGINT, SIGTERM or SIGHUP no worker can be started any more, those that live are killed and
///    waited for, the directory is removed, and the process ends.
/// 3. When the coordinator itself is killed, its workers read the end of their standard input and
///    end; the directory stays.
final class RunGuard: Sendable {
  /// The signals that end a run.
  static let signals = [SIGINT, SIGTERM, SIGHUP]

  private struct State {
    var workers: Set<pid_t> = []
    var directory: String?
    var isEnding = false
    var isInterrupted = false
  }

  private let state = Mutex(State())

  /// Begins to listen for signals, which have been blocked since the program's start.
  init() {
    SignalWatch.start(Self.signals) { [self] signal in
      state.withLock { $0.isInterrupted = true }
      clear()
      _exit(128 + signal)
    }
  }

  /// Makes the directory of the run.
  func makeDirectory(under base: String) throws -> String {
    var template = Array("\(base)/boutique-bench.XXXXXX".utf8CString)
    return try state.withLock { state in
      guard !state.isEnding, mkdtemp(&template) != nil else {
        throw BenchFailure("\(base): no directory can be made: \(SystemMessage.text(errno))")
      }
      let path = template.withUnsafeBufferPointer { buffer in
        buffer.baseAddress.map { String(cString: $0) } ?? base
      }
      state.directory = path
      return path
    }
  }

  /// Starts a worker; `body` returns its number.
  func start(_ body: () throws -> pid_t) throws {
    try state.withLock { state in
      guard !state.isEnding else { throw BenchFailure("interrupted") }
      state.workers.insert(try body())
    }
  }

  /// Waits for the end of a worker that has said its last.
  ///
  /// - Returns: how it ended, for a sentence.
  func reap(_ pid: pid_t) -> String {
    // Waits without taking, so that a signal can still end the run meanwhile.
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    // The workers' end is the signal's doing: the process ends by it, and not with a complaint.
    while state.withLock(\.isInterrupted) { pause() }
    return state.withLock { state in
      guard state.workers.remove(pid) != nil else { return "has ended" }
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      return signal == 0
        ? "ended with status \((status >> 8) & 0xFF)" : "was killed by signal \(signal)"
    }
  }

  /// Kills what lives and removes the directory.
  func clear() {
    state.withLock { state in
      state.isEnding = true
      for pid in state.workers { kill(pid, SIGKILL) }
      for pid in state.workers { while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
      state.workers = []
      if let directory = state.directory { try? FileManager.default.removeItem(atPath: directory) }
      state.directory = nil
    }
  }
}
