import Foundation
import Glibc
import Synchronization

/// The worker's side of the pipes.
final class WorkerChannel: Sendable {
  private let isWriting = Mutex(())

  /// The coordinator's commands; ends with standard input.
  let commands: AsyncStream<Command>

  init() {
    let (stream, continuation) = AsyncStream<Command>.makeStream()
    commands = stream
    // Reading blocks, so it has a thread of its own.
    Thread.detachNewThread {
      while let line = readLine() {
        guard let command = try? JSONDecoder().decode(Command.self, from: Data(line.utf8)) else {
          continue
        }
        continuation.yield(command)
      }
      continuation.finish()
    }
  }

  func tell(_ event: Event) { write(Wire.line("E", event)) }

  func answer(_ state: ObserverState) { write(Wire.line("S", state)) }

  func violation(_ check: Check, _ text: String) {
    tell(Event(kind: .violation, text: text, check: check))
  }

  /// Writes a whole line: an acknowledgement must be in the pipe when the process is killed right after it.
  private func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    isWriting.withLock { _ in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count < 0 && errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }
}
