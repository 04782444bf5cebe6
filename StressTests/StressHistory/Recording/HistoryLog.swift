import Foundation
import Glibc
import Synchronization

/// A process's file of what it does: one JSON object a line, written before and after each operation, so that
/// a killed process leaves behind what it had begun.
///
/// A line goes out in one `write` to a descriptor opened for appending: what was written before SIGKILL is in
/// the page cache and stays. Used from any thread.
package final class HistoryLog: Sendable {
  private struct State {
    var next = 0
  }

  private let descriptor: CInt
  /// The process, by the number of its start.
  package let process: Int
  private let state = Mutex(State())

  /// Opens the file of a process's start; it is made when it is missing.
  package init(path: String, process: Int) throws {
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw HistoryLogError(path: path, code: errno) }
    self.process = process
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
    let number = state.withLock {
      $0.next += 1
      return $0.next
    }
    let operation = OperationRecord(
      process: process, client: client, number: number, name: name, steps: steps,
      began: Self.now())
    write(.init(operation: operation))
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
    write(.init(operation: operation))
  }

  /// Notes a measurement.
  package func measure(_ kind: Sample.Kind, _ value: Int64) {
    write(.init(sample: Sample(kind, process: process, time: Self.now(), value: value)))
  }

  /// Says something besides operations.
  package func note(_ kind: Note.Kind, _ subject: String, _ text: String) {
    write(
      .init(
        note: Note(kind, process: process, time: Self.now(), subject: subject, text: text)))
  }

  private func write(_ line: HistoryLine) {
    guard var data = try? JSONEncoder().encode(line) else { return }
    data.append(UInt8(ascii: "\n"))
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = Glibc.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written < 0 {
          // The history is no part of what is tried: where it cannot be written, the run is void.
          if errno == EINTR { continue }
          return
        }
        rest = rest.dropFirst(written)
      }
    }
  }
}

/// One line of a history's file.
struct HistoryLine: Codable {
  var operation: OperationRecord?
  var sample: Sample?
  var note: Note?

  init(operation: OperationRecord) { self.operation = operation }
  init(sample: Sample) { self.sample = sample }
  init(note: Note) { self.note = note }

  enum CodingKeys: String, CodingKey {
    case operation = "o"
    case sample = "s"
    case note = "n"
  }
}

/// A history's file that cannot be opened.
package struct HistoryLogError: Error, CustomStringConvertible {
  let path: String
  let code: CInt

  package var description: String { "\(path): \(String(cString: strerror(code)))" }
}

extension History {
  /// Reads the files of all processes' starts; the last line of a killed process may be cut off.
  package static func read(files: [String]) throws -> History {
    var operations: [OperationID: OperationRecord] = [:]
    var samples: [Sample] = []
    var notes: [Note] = []
    for file in files {
      let data = try Data(contentsOf: URL(filePath: file))
      for line in data.split(separator: UInt8(ascii: "\n")) {
        guard let line = try? JSONDecoder().decode(HistoryLine.self, from: line) else { continue }
        if let operation = line.operation { operations[OperationID(operation)] = operation }
        if let sample = line.sample { samples.append(sample) }
        if let note = line.note { notes.append(note) }
      }
    }
    return History(operations: Array(operations.values), samples: samples, notes: notes)
  }
}

/// Which operation of a run it is.
private struct OperationID: Hashable {
  let process: Int
  let number: Int

  init(_ operation: OperationRecord) {
    process = operation.process
    number = operation.number
  }
}
