import Foundation
import Glibc

/// What to start.
package struct ChildCommand: Sendable {
  /// A path, or a name to look for in PATH.
  package var program: String
  package var arguments: [String]
  /// Added to the environment of this process.
  package var environment: [String: String]

  /// Describes a program with its arguments; the environment is added to that of this process.
  package init(
    _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
  }
}

/// The harness's ends of a child's three pipes, none of which blocks.
struct ChildPipes {
  let input: CInt
  let output: CInt
  let error: CInt
}

/// Starts a program with three pipes.
///
/// `posix_spawn` and not `fork`: the harness has threads, whose locks a forked child would inherit in
/// whatever state they were. The child gets an empty signal mask, default signal actions, and no
/// descriptor besides the three.
func spawn(_ command: ChildCommand) -> Result<(pid_t, ChildPipes), ChildFailure> {
  func failure(_ call: String, _ code: CInt) -> ChildFailure {
    ChildFailure(
      .notStarted(call: call, code: code), child: command.program, awaited: "a running process")
  }
  var opened: [CInt] = []
  func pipe() -> (read: CInt, write: CInt)? {
    let ends = ForeignSymbols.pipe(O_CLOEXEC)
    if let ends { opened += [ends.read, ends.write] }
    return ends
  }
  guard let input = pipe(), let output = pipe(), let error = pipe() else {
    let code = errno
    for descriptor in opened { close(descriptor) }
    return .failure(failure("pipe2", code))
  }

  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for (descriptor, number) in [(input.read, 0), (output.write, 1), (error.write, 2)] {
    posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
  }
  ForeignSymbols.closeFrom(&actions, 3)

  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  sigfillset(&signals)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  var environment = ProcessInfo.processInfo.environment
  environment.merge(command.environment) { _, new in new }
  environment[harnessProcessVariable] = String(getpid())
  var pid: pid_t = 0
  let code = withCStrings([command.program] + command.arguments) { arguments in
    withCStrings(environment.map { "\($0)=\($1)" }) { variables in
      posix_spawnp(&pid, command.program, &actions, &attributes, arguments, variables)
    }
  }
  for descriptor in [input.read, output.write, error.write] { close(descriptor) }
  let ours = [input.write, output.read, error.read]
  guard code == 0 else {
    for descriptor in ours { close(descriptor) }
    return .failure(failure("posix_spawnp \(command.program)", code))
  }
  for descriptor in ours { setNonBlocking(descriptor) }
  return .success((pid, ChildPipes(input: ours[0], output: ours[1], error: ours[2])))
}

/// Makes a descriptor of ours return at once; the child's end of the pipe stays as it is.
private func setNonBlocking(_ descriptor: CInt) {
  _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

private func withCStrings<Result>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
