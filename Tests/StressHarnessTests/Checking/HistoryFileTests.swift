import Foundation
import StressHistory
import Testing

@Suite struct HistoryFileTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private let steps = [
    Step(.read, "a \"b\" \\ c\n\t,]", .text("ü [\"x\"] \\")), Step(.append, "k", .integer(-5)),
    Step(.read, "k", .list([])), Step(.read, "k", .list([1, .min, .max])), Step(.take, "", .none),
  ]

  @Test func `everything is read as it was written`() throws {
    try withFile { path in
      let log = try HistoryLog(path: path, process: 7)
      let first = log.begin("a \"name\"", client: 3, steps)
      log.end(first, .refused, error: HistoryFileError())
      let second = log.begin("b", [])
      log.end(second, .done, steps: steps)
      log.measure(.lockWait, 12)
      log.note(.violation, "sub\"ject", "text\nof two lines")
      let history = try History.read(files: [path])
      #expect(history.operations.map(\.steps) == [steps, steps])
      #expect(history.operations.map(\.name) == ["a \"name\"", "b"])
      #expect(history.operations.map(\.process) == [7, 7])
      #expect(history.operations.map(\.client) == [3, 0])
      #expect(history.operations.map(\.outcome) == [.refused, .done])
      #expect(history.operations.map(\.error) == ["no \"room\"", nil])
      #expect(history.operations.allSatisfy { $0.ended ?? 0 >= $0.began && $0.began > 0 })
      #expect(history.samples.map(\.value) == [12])
      #expect(history.notes.map(\.text) == ["text\nof two lines"])
      #expect(history.notes.map(\.subject) == ["sub\"ject"])
    }
  }

  @Test func `a line is cut anywhere without harm to the others`() throws {
    try withFile { path in
      let log = try HistoryLog(path: path, process: 7)
      log.end(log.begin("append", steps), .done)
      let whole = try Data(contentsOf: URL(filePath: path))
      log.end(log.begin("append", steps), .done, steps: steps)
      let all = try Data(contentsOf: URL(filePath: path))
      for count in whole.count..<all.count {
        try all.prefix(count).write(to: URL(filePath: path))
        let history = try History.read(files: [path])
        #expect(history.operations.count <= 2)
        #expect(history.operations.first?.outcome == .done)
        if history.operations.count == 2 {
          #expect(history.operations[1].outcome == .unknown)
          #expect(history.operations[1].steps == steps)
        }
      }
    }
  }

  @Test func `the tail counts what has ended since the last look`() throws {
    try withFile { path in
      let log = try HistoryLog(path: path, process: 1)
      var tail = HistoryTail()
      tail.look(at: [path, path + ".missing"])
      #expect(tail.ended == 0)
      let operation = log.begin("append", steps)
      tail.look(at: [path])
      #expect(tail.ended == 0)
      log.end(operation, .done)
      log.note(.violation, "a", "b")
      log.note(.trouble, "a", "b")
      tail.look(at: [path])
      tail.look(at: [path])
      #expect(tail.ended == 1)
      #expect(tail.violations == 1)
    }
  }
}

private struct HistoryFileError: Error, CustomStringConvertible {
  var description: String { "no \"room\"" }
}
