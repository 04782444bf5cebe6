import Foundation
import Glibc

extension History {
  /// Reads the files of all processes' starts; the last line of a killed process may be cut off.
  ///
  /// One file is in memory at a time, besides what was read. Linear, but for putting the operations in order.
  package static func read(files: [String]) throws -> History {
    var operations: [OperationRecord] = []
    var samples: [Sample] = []
    var notes: [Note] = []
    for file in files {
      var reader = HistoryFileReader()
      var bytes = try Data(contentsOf: URL(filePath: file))
      bytes.append(0)
      bytes.withUnsafeBytes { reader.read($0) }
      operations += reader.operations
      samples += reader.samples
      notes += reader.notes
    }
    return History(operations: operations, samples: samples, notes: notes)
  }
}

/// Puts one file's lines together.
private struct HistoryFileReader {
  private(set) var operations: [OperationRecord] = []
  private(set) var samples: [Sample] = []
  private(set) var notes: [Note] = []
  private var process = 0
  /// The places in `operations` by number; not an array, since a file may name any number.
  private var places: [Int: Int] = [:]

  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    guard var line = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
    let end = line + bytes.count - 1
    // What stands after the last newline was cut off.
    while let found = memchr(line, CInt(UInt8(ascii: "\n")), end - line) {
      let after = UnsafePointer(found.assumingMemoryBound(to: CChar.self))
      read(HistoryScanner(line, end: after))
      line = after + 1
    }
  }

  private mutating func read(_ line: HistoryScanner) {
    var line = line
    line.take(UInt8(ascii: "["))
    let kind = line.text()
    line.comma()
    switch kind {
    case "b": begin(&line)
    case "e": end(&line)
    case "p":
      let process = Int(line.integer())
      if line.isWhole() { self.process = process }
    case "s":
      let kind = Sample.Kind(rawValue: line.text())
      line.comma()
      let time = line.integer()
      line.comma()
      let value = line.integer()
      guard let kind, line.isWhole() else { return }
      samples.append(Sample(kind, process: process, time: time, value: value))
    case "n":
      let kind = Note.Kind(rawValue: line.text())
      line.comma()
      let time = line.integer()
      line.comma()
      let subject = line.text()
      line.comma()
      let text = line.text()
      var note = Note(kind ?? .trouble, process: process, time: time, subject: subject, text: text)
      if line.takes(UInt8(ascii: ",")) {
        note.since = line.integer()
        line.comma()
        note.seen = line.steps()
      }
      guard kind != nil, line.isWhole() else { return }
      notes.append(note)
    default: return
    }
  }

  private mutating func begin(_ line: inout HistoryScanner) {
    let number = Int(line.integer())
    line.comma()
    let client = Int(line.integer())
    line.comma()
    let name = line.text()
    line.comma()
    let began = line.integer()
    line.comma()
    let steps = line.steps()
    guard line.isWhole(), number >= 0, number < Int32.max else { return }
    places[number] = operations.count
    operations.append(
      OperationRecord(
        process: process, client: client, number: number, name: name, steps: steps, began: began))
  }

  private mutating func end(_ line: inout HistoryScanner) {
    let number = Int(line.integer())
    line.comma()
    let ended = line.integer()
    line.comma()
    let outcome = OperationRecord.Outcome(rawValue: line.text())
    line.comma()
    let steps = line.isNull() ? nil : line.steps()
    line.comma()
    let error = line.isNull() ? nil : line.text()
    guard let outcome, line.isWhole(), let place = places[number] else { return }
    operations[place].ended = ended
    operations[place].outcome = outcome
    operations[place].error = error
    if let steps { operations[place].steps = steps }
  }
}
