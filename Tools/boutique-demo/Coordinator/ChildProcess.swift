import Glibc
import Synchronization

/// A process that the coordinator started, and the lines it says.
///
/// Every child gets a pipe as standard input of which only the coordinator holds the other end: it reads
/// the end of it when the coordinator dies, however that happens.
final class ChildProcess: Sendable {
  /// How a process ended.
  enum Ending: Sendable, Equatable, CustomStringConvertible {
    case exited(Int32)
    case killed(signal: Int32)

    var description: String {
      switch self {
      case .exited(let status): "ended with status \(status)"
      case .killed(let signal):
        "was killed by signal \(signal) (\(strsignal(signal).map { String(cString: $0) } ?? "?"))"
      }
    }
  }

  private struct State {
    /// Set until the process has been waited for; only so long is the number safe to signal.
    var pid: pid_t?
    var input: Int32?
    var ending: Ending?
    var waiters: [CheckedContinuation<Ending, Never>] = []
  }

  /// What the coordinator calls it.
  let label: String
  /// The number, for messages.
  let pid: pid_t
  /// What it says, line by line.
  let lines: AsyncStream<String>
  private let state: Mutex<State>

  /// Where the child's words come from.
  enum Voice: Sendable {
    /// Descriptor 3; standard output stays the coordinator's.
    case channel
    /// Standard output and standard error.
    case standardOutput
  }

  /// Starts a program.
  init(
    label: String, program: String, arguments: [String], voice: Voice
  ) throws(SystemCallFailure) {
    let input = try Pipe()
    let output = try Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input.reading, STDIN_FILENO)
    switch voice {
    case .channel:
      posix_spawn_file_actions_adddup2(&actions, output.writing, DaemonProgram.channel)
    case .standardOutput:
      posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, output.writing, STDERR_FILENO)
    }
    // The coordinator blocks the signals that it waits for and ignores SIGPIPE; a child starts fresh.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var reset = sigset_t()
    sigemptyset(&reset)
    sigaddset(&reset, SIGPIPE)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &reset)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var pid = pid_t()
    let code = posix_spawnp(&pid, program, &actions, &attributes, words, environ)
    close(input.reading)
    close(output.writing)
    guard code == 0 else {
      close(input.writing)
      close(output.reading)
      throw SystemCallFailure("posix_spawn", program, code: code)
    }
    self.label = label
    self.pid = pid
    state = Mutex(State(pid: pid, input: input.writing))
    let (lines, continuation) = AsyncStream<String>.makeStream()
    self.lines = lines
    let reading = output.reading
    let isReading = DetachedThread.start { [self] in
      LineReader.readAll(reading) { continuation.yield($0) }
      close(reading)
      continuation.finish()
      reap()
    }
    if !isReading {
      kill(pid, SIGKILL)
      reap()
      throw SystemCallFailure("pthread_create", label, code: EAGAIN)
    }
  }

  /// Sends a signal, unless the process has ended.
  func signal(_ number: Int32) {
    state.withLock { state in
      if let pid = state.pid { _ = kill(pid, number) }
    }
  }

  /// Writes to the child's standard input.
  ///
  /// - Returns: whether there is still somebody to read it.
  func write(_ text: String) -> Bool {
    state.withLock { state in
      guard let input = state.input else { return false }
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count < 0 { return false }
        bytes = bytes.dropFirst(count)
      }
      return true
    }
  }

  /// Ends the child's standard input.
  func closeInput() {
    state.withLock { state in
      if let input = state.input { close(input) }
      state.input = nil
    }
  }

  /// Returns how the process ended, when it has.
  func ending() async -> Ending {
    await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.waiters.append(continuation) }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }

  /// How it ended, nil while it runs.
  var endingSoFar: Ending? { state.withLock { $0.ending } }

  private func reap() {
    // Wait without taking, so that the number stays the process's until no signal can be sent any more.
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    let (ending, waiters) = state.withLock { state in
      state.pid = nil
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      let ending: Ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
      state.ending = ending
      if let input = state.input { close(input) }
      state.input = nil
      defer { state.waiters = [] }
      return (ending, state.waiters)
    }
    for waiter in waiters { waiter.resume(returning: ending) }
  }
}

/// The two ends of a pipe, closed in programs that are started.
private struct Pipe {
  let reading: Int32
  let writing: Int32

  init() throws(SystemCallFailure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemCallFailure("pipe", "pipe") }
    // Closed in children, all of which are started by one task, and above the numbers that they know,
    // lest one copy overwrite another.
    reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
    close(ends[0])
    close(ends[1])
    guard reading >= 0, writing >= 0 else { throw SystemCallFailure("fcntl", "pipe") }
  }
}

/// Cuts what comes from a descriptor into lines.
enum LineReader {
  /// Calls `body` with each line until the end.
  static func readAll(_ descriptor: Int32, _ body: (String) -> Void) {
    var pending: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      pending += buffer[..<count]
      while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        body(String(decoding: pending[..<end], as: UTF8.self))
        pending.removeSubrange(...end)
      }
    }
    if !pending.isEmpty { body(String(decoding: pending, as: UTF8.self)) }
  }
}
