import Glibc
import Synchronization

/// A process's file of what it does: one line (`HistoryLine`), written before and after each operation, so that
/// a killed process leaves behind what it had begun.
///
/// A line goes out in one `write` to a descriptor opened for appending: what was written before SIGKILL is in
/// the page cache and stays. Used from any thread.
///
/// The history is no part of what is tried. Where it cannot be written, the run shows nothing any more: what
/// stands in the database and not in the history would look like a broken promise. So the first failure goes to
/// a handler, which is to end the process.
package final class HistoryLog: Sendable {
  private let descriptor: CInt
  private let path: String
  private let onFailure: @Sendable (HistoryLogError) -> Void
  /// The process, by the number of its start.
  package let process: Int
  /// The last number that was given to an operation.
  private let last = Atomic(0)

  /// Opens the file of a process's start; it is made when it is missing.
  ///
  /// - Parameter onFailure: is told of every line that could not be written, on the thread that wrote it.
  package init(
    path: String, process: Int,
    onFailure: @escaping @Sendable (HistoryLogError) -> Void = { _ in }
  ) throws(HistoryLogError) {
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw HistoryLogError(path: path, code: errno) }
    self.path = path
    self.process = process
    self.onFailure = onFailure
    if let code = Self.write(HistoryLine.process(process), to: descriptor) {
      throw HistoryLogError(path: path, code: code)
    }
  }

  deinit { close(descriptor) }

  /// Nanoseconds of the monotonic clock.
  package static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Notes that an operation begins, and returns it with its number and its moment.
  package func begin(_ name: String, client: Int = 0, _ steps: [Step]) -> OperationRecord {
    let number = last.add(1, ordering: .relaxed).newValue
    let operation = OperationRecord(
      process: process, client: client, number: number, name: name, steps: steps,
      began: Self.now())
    write(HistoryLine.begin(operation))
    return operation
  }

  /// Notes how an operation ended.
  package func end(
    _ operation: OperationRecord, _ outcome: OperationRecord.Outcome, steps: [Step]? = nil,
    error: (any Error)? = nil
  ) {
    var operation = operation
    operation.ended = Self.now()
    operation.outcome = outcome
    if let steps { operation.steps = steps }
    operation.error = error.map { String("\($0)".prefix(400)) }
    write(HistoryLine.end(operation, hasNewSteps: steps != nil))
  }

  /// Notes a measurement.
  package func measure(_ kind: Sample.Kind, _ value: Int64) {
    write(
      HistoryLine.sample(Sample(kind, process: process, time: Self.now(), value: value)))
  }

  /// Says something besides operations.
  ///
  /// - Parameters:
  ///   - since: when what was seen began to be looked at; now where it is not known.
  ///   - seen: what was seen, as reads, so that whoever judges finds the operations that it belongs to.
  package func note(
    _ kind: Note.Kind, _ subject: String, _ text: String, since: Int64? = nil, seen: [Step]? = nil
  ) {
    let now = Self.now()
    write(
      HistoryLine.note(
        Note(
          kind, process: process, time: now, subject: subject, text: text,
          since: seen == nil ? since : since ?? now, seen: seen)))
  }

  private func write(_ line: String) {
    if let code = Self.write(line, to: descriptor) {
      onFailure(HistoryLogError(path: path, code: code))
    }
  }

  /// Returns the number of the error that stopped it.
  private static func write(_ line: String, to descriptor: CInt) -> CInt? {
    var line = line
    return line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if written < 0 {
          if errno == EINTR { continue }
          return errno
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
      return nil
    }
  }
}
