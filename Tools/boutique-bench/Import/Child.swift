import CommandLineSupport
import Foundation
import Glibc
import SharedFileCoordination

/// A program that is run to its end.
struct Child {
  /// Elapsed and processor time, in nanoseconds.
  let figures: [Double]
  /// What it has written to standard output.
  let output: String

  /// Runs a program, found as a shell would find it.
  ///
  /// - Throws: where it cannot be started, or ends with another status than 0.
  static func run(_ words: [String], _ run: BenchRun) throws -> Child {
    let path = "\(run.directory)/output"
    defer { unlink(path) }
    let processor = childrenProcessor()
    let start = BootClock.now()
    var pid = pid_t()
    try run.keeper.start {
      pid = try spawn(words, output: path)
      return pid
    }
    let end = run.keeper.reap(pid)
    let elapsed = start.duration(to: BootClock.now()).clampedNanoseconds
    let output = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    guard end == "ended with status 0" else {
      throw BenchFailure("\(words.joined(separator: " ")): \(end): \(output)")
    }
    return Child(
      figures: [Double(elapsed), Double(childrenProcessor() - processor)], output: output)
  }

  /// The processor time of all children that have ended.
  private static func childrenProcessor() -> Int64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    func nanoseconds(_ time: timeval) -> Int64 {
      Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000
    }
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }

  private static func spawn(_ words: [String], output: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    // The coordinator blocks the signals that it waits for.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var pid = pid_t()
    let code = posix_spawnp(&pid, words[0], &actions, &attributes, arguments, environ)
    guard code == 0 else {
      throw BenchFailure("\(words[0]) cannot be started: \(SystemMessage.text(code))")
    }
    return pid
  }
}
