import CommandLineSupport
import Glibc

/// A worker as the coordinator knows it.
///
/// Used by the coordinator's thread alone.
final class WorkerProcess {
  /// What it is called in messages.
  let label: String
  /// Its number.
  private(set) var pid: pid_t = 0
  /// Where its words come from.
  let output: Int32
  private let input: Int32
  private let keeper: RunGuard
  private var pending: [UInt8] = []
  /// The last lines that were no messages, such as those of a crash.
  private var otherLines: [String] = []
  /// Whether it has said its last and been waited for.
  private(set) var hasEnded = false
  /// Whether it has told its result.
  private(set) var isDone = false

  /// Starts this same program as a worker.
  init(label: String, orders: WorkerOrders, keeper: RunGuard) throws {
    let (inputReading, inputWriting) = try Self.pipe()
    let (outputReading, outputWriting) = try Self.pipe()
    self.label = label
    self.keeper = keeper
    input = inputWriting
    output = outputReading
    defer {
      close(inputReading)
      close(outputWriting)
    }
    try keeper.start {
      pid = try Self.spawn(reading: inputReading, writing: outputWriting)
      return pid
    }
    try send(JSONLine.text(orders))
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      _ = keeper.reap(pid)
    }
    close(input)
    close(output)
  }

  /// Sends text, which ends with a line end.
  func send(_ text: String) throws {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // A worker that is gone has said why; that is read next.
      if count < 0, errno == EPIPE { return }
      guard count > 0 else { throw BenchFailure("\(label): \(SystemMessage.text(errno))") }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Takes in what there is to read.
  func receive() throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(output, &buffer, buffer.count)
    if count < 0, errno == EINTR { return }
    if count > 0 {
      pending += buffer[..<count]
      return
    }
    hasEnded = true
    let ending = keeper.reap(pid)
    if !isDone {
      if !pending.isEmpty { otherLines.append(String(decoding: pending, as: UTF8.self)) }
      throw BenchFailure(
        (["worker \(label) \(ending) before its work was done"] + otherLines.suffix(20))
          .joined(separator: "\n  "))
    }
  }

  /// Returns the next message of those received.
  func nextMessage() throws -> WorkerMessage? {
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: pending[..<end], as: UTF8.self)
      pending.removeSubrange(...end)
      guard line.hasPrefix("{"), let message: WorkerMessage = try? JSONLine.value(line) else {
        otherLines.append(line)
        continue
      }
      if message.event == .failure {
        throw BenchFailure("worker \(label): \(message.text ?? "failed")")
      }
      if message.event == .result { isDone = true }
      return message
    }
    return nil
  }

  private static func spawn(reading: Int32, writing: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, writing, STDERR_FILENO)
    // The coordinator blocks the signals that it waits for; a worker is ended by them.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let program = "/proc/self/exe"
    let arguments = [Program.name, WorkerProgram.word]
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, program, &actions, &attributes, words, environ)
    guard code == 0 else {
      throw BenchFailure("no worker can be started: \(SystemMessage.text(code))")
    }
    return pid
  }

  /// Returns the reading and the writing end, both closed in programs that are started.
  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else {
      throw BenchFailure("no pipe can be made: \(SystemMessage.text(errno))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
