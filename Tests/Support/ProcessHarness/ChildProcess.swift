import Foundation
package import Glibc
import Synchronization

/// A running program whose standard output is read as lines.
///
/// Two threads serve each child: one sleeps in `waitid` until the child is dead, the other moves
/// bytes. Nothing here waits for SIGCHLD or changes its handler, and only this child is waited for,
/// so other code of the process may have children of its own.
///
/// Order at the end: the child dies, its rest of output is read, then waiters learn of the end. A
/// grandchild that still holds the pipe delays nothing.
package final class ChildProcess: Sendable {
  /// What two threads and any task share, under one lock.
  private struct State {
    var queue = LineQueue()
    /// Bytes for standard input that the pipe had no room for.
    var input: [UInt8] = []
    var closesInput = false
    /// The end of standard error, at most `errorBound` bytes and a read more.
    var error: [UInt8] = []
    var nextWaiter: UInt64 = 0
    /// Set when the process id is no longer ours to signal.
    var reaped: ExitStatus?
    /// False once the descriptors are closed.
    var isOpen = true
  }

  /// How long to wait for a child when nothing else is said: generous, since machines may be busy.
  package static let usualBound = Duration.seconds(60)
  private static let errorBound = 65_536

  /// The child's process id.
  package let processID: pid_t
  private let command: ChildCommand
  private let pipes: ChildPipes
  /// Wakes the thread that moves bytes; read end, write end.
  private let wake: (CInt, CInt)
  private let state = Mutex(State())

  /// Starts a program.
  package static func start(_ command: ChildCommand) async throws(ChildFailure) -> ChildProcess {
    let (pid, pipes) = try await SpawningThread.shared.run { spawn(command) }.get()
    guard let wake = ForeignSymbols.pipe(O_CLOEXEC | O_NONBLOCK) else {
      let code = errno
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
      for descriptor in [pipes.input, pipes.output, pipes.error] { close(descriptor) }
      throw ChildFailure(
        .notStarted(call: "pipe2", code: code), child: command.program, awaited: "a wake pipe")
    }
    let child = ChildProcess(command, pid, pipes, wake)
    await startThread { child.reap() }
    await startThread { child.moveBytes() }
    return child
  }

  private init(
    _ command: ChildCommand, _ processID: pid_t, _ pipes: ChildPipes, _ wake: (CInt, CInt)
  ) {
    self.command = command
    self.processID = processID
    self.pipes = pipes
    self.wake = wake
  }

  // MARK: Saying and hearing

  /// Sends one line to the child's standard input; never blocks.
  package func send(_ line: String) {
    state.withLock {
      $0.input.append(contentsOf: line.utf8)
      $0.input.append(UInt8(ascii: "\n"))
    }
    wakeUp()
  }

  /// Closes the child's standard input after what was sent.
  package func closeInput() {
    state.withLock { $0.closesInput = true }
    wakeUp()
  }

  /// Waits for the first line that is wanted, among those not yet taken, and takes it.
  package func next(
    _ awaited: String, within bound: Duration = usualBound,
    where wants: @escaping @Sendable (OutputLine) -> Bool
  ) async throws -> OutputLine {
    switch await wait(within: bound, wants) {
    case .line(let line): return line
    case .ended(let status): throw failure(.ended(status), awaited)
    case .timedOut: throw failure(.timedOut(bound), awaited)
    case .cancelled: throw CancellationError()
    }
  }

  /// Waits for a JSON object that is wanted, among those not yet taken, and takes it.
  package func nextMessage(
    _ awaited: String, within bound: Duration = usualBound,
    where wants: @escaping @Sendable (JSONValue) -> Bool
  ) async throws -> JSONValue {
    let line = try await next(awaited, within: bound) { $0.message.map(wants) ?? false }
    return line.message ?? .null
  }

  /// Takes every wanted JSON object that has arrived, without waiting.
  package func takeMessages(where wants: (JSONValue) -> Bool) -> [JSONValue] {
    state.withLock { state in
      state.queue.takeAll { $0.message.map(wants) ?? false }
    }.compactMap(\.message)
  }

  /// Takes every line that has arrived, without waiting.
  package func takeLines() -> [String] {
    state.withLock { state in state.queue.takeAll { _ in true } }.map(\.text)
  }

  /// What the child wrote to standard error, at most the last 64 KiB.
  package var standardError: String {
    String(decoding: state.withLock { $0.error }, as: UTF8.self)
  }

  /// Describes what this child did not do, with its last lines and its standard error.
  package func failure(_ reason: ChildFailure.Reason, _ awaited: String) -> ChildFailure {
    let (lines, error) = state.withLock { ($0.queue.lines.suffix(10), $0.error) }
    let words = [command.program] + command.arguments
    return ChildFailure(
      reason, child: "process \(processID) (\(words.joined(separator: " ").prefix(300)))",
      awaited: awaited, lastLines: lines.map { String($0.text.prefix(1000)) },
      standardError: String(decoding: error, as: UTF8.self))
  }

  // MARK: Signals and the end

  /// Sends a signal; false when the child is already gone.
  @discardableResult
  package func signal(_ signal: CInt) -> Bool {
    // Under the lock, so that the process id cannot be reaped and given to another in between.
    state.withLock { $0.reaped == nil && Glibc.kill(processID, signal) == 0 }
  }

  /// Sends SIGKILL; does not wait for the end.
  package func kill() { signal(SIGKILL) }

  /// Stops the child and returns when every thread of it stands still.
  package func stop() async {
    guard signal(SIGSTOP) else { return }
    let pid = processID
    await onOwnThread {
      var info = siginfo_t()
      // WNOWAIT leaves the news of an end to the reaping thread.
      while waitid(P_PID, id_t(pid), &info, CInt(WSTOPPED | WEXITED | WNOWAIT)) != 0
        && errno == EINTR
      {}
    }
  }

  /// Lets a stopped child go on.
  package func resume() { signal(SIGCONT) }

  /// Waits until the child is gone and all its output has arrived.
  @discardableResult
  package func exit(within bound: Duration = usualBound) async throws -> ExitStatus {
    switch await wait(within: bound, nil) {
    case .ended(let status): return status
    case .line, .timedOut: throw failure(.timedOut(bound), "its end")
    case .cancelled: throw CancellationError()
    }
  }

  /// Kills the child, waits for its end even in a cancelled task, and returns how it ended.
  @discardableResult
  package func end() async -> ExitStatus {
    kill()
    return await Task.detached { [self] in
      while true {
        if case .ended(let status) = await wait(within: .seconds(3600), nil) { return status }
      }
    }.value
  }

  // MARK: Waiting

  private func wait(
    within bound: Duration, _ wants: (@Sendable (OutputLine) -> Bool)?
  ) async -> LineQueue.Outcome {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let timer = Task.detached { [self] in
      try await Task.sleep(for: bound)
      giveUp(number, as: .timedOut)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = LineQueue.Waiter(number: number, wants: wants, continuation: continuation)
        state.withLock { $0.queue.wait(waiter) }?.perform()
        // The handler below may have run before there was a waiter to give up.
        if Task.isCancelled { giveUp(number, as: .cancelled) }
      }
    } onCancel: {
      giveUp(number, as: .cancelled)
    }
  }

  private func giveUp(_ number: UInt64, as outcome: LineQueue.Outcome) {
    state.withLock { $0.queue.giveUp(number, as: outcome) }?.perform()
  }

  // MARK: The two threads

  private func wakeUp() {
    state.withLock { state in
      // A full wake pipe is as good as one more byte.
      if state.isOpen { _ = write(wake.1, [1], 1) }
    }
  }

  private func reap() {
    var info = siginfo_t()
    while waitid(P_PID, id_t(processID), &info, CInt(WEXITED | WNOWAIT)) != 0 && errno == EINTR {}
    state.withLock { state in
      var status: CInt = 0
      waitpid(processID, &status, 0)
      state.reaped = ExitStatus(waitStatus: status)
    }
    wakeUp()
  }

  private func moveBytes() {
    // A write to a child that is gone must be an error here, not a signal that ends the tests.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)

    var splitter = LineSplitter()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var (inputIsOpen, outputIsOpen, errorIsOpen) = (true, true, true)
    while true {
      let (hasInput, closesInput, status) = state.withLock {
        (!$0.input.isEmpty, $0.closesInput, $0.reaped)
      }
      if inputIsOpen && closesInput && !hasInput {
        close(pipes.input)
        inputIsOpen = false
      }
      var polled = [
        pollfd(fd: wake.0, events: Int16(POLLIN), revents: 0),
        pollfd(fd: outputIsOpen ? pipes.output : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errorIsOpen ? pipes.error : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: inputIsOpen && hasInput ? pipes.input : -1, events: Int16(POLLOUT), revents: 0),
      ]
      // With the child dead, take what is in the pipes and wait for no more.
      _ = poll(&polled, nfds_t(polled.count), status == nil ? -1 : 0)
      if polled[0].revents != 0 { _ = read(wake.0, &buffer, buffer.count) }
      var moved = false
      if polled[1].revents != 0 {
        let count = read(pipes.output, &buffer, buffer.count)
        if count > 0 {
          moved = true
          for line in splitter.add(buffer[..<count]) { deliver(line) }
        } else if count == 0 {
          outputIsOpen = false
        }
      }
      if polled[2].revents != 0 {
        let count = read(pipes.error, &buffer, buffer.count)
        if count > 0 {
          moved = true
          keepError(buffer[..<count])
        } else if count == 0 {
          errorIsOpen = false
        }
      }
      if polled[3].revents != 0 { inputIsOpen = writeInput() }
      if let status, !moved {
        if let line = splitter.end() { deliver(line) }
        finish(status, inputIsOpen)
        return
      }
    }
  }

  private func deliver(_ line: OutputLine) {
    state.withLock { $0.queue.arrive(line) }?.perform()
  }

  private func keepError(_ bytes: ArraySlice<UInt8>) {
    state.withLock { state in
      state.error.append(contentsOf: bytes)
      if state.error.count > Self.errorBound {
        state.error.removeFirst(state.error.count - Self.errorBound)
      }
    }
  }

  /// Writes what the pipe takes; false when the child no longer reads.
  private func writeInput() -> Bool {
    state.withLock { state in
      let count = write(pipes.input, state.input, state.input.count)
      if count > 0 { state.input.removeFirst(count) }
      if count >= 0 || errno == EAGAIN || errno == EINTR { return true }
      state.input = []
      close(pipes.input)
      return false
    }
  }

  private func finish(_ status: ExitStatus, _ inputIsOpen: Bool) {
    let resumptions = state.withLock { state in
      state.isOpen = false
      for descriptor in [wake.0, wake.1, pipes.output, pipes.error] { close(descriptor) }
      if inputIsOpen { close(pipes.input) }
      return state.queue.finish(status)
    }
    for resumption in resumptions { resumption.perform() }
  }
}
