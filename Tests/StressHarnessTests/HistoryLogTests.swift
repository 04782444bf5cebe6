import Foundation
import StressHistory
import Testing

@Suite struct HistoryLogTests {
  @Test func `an operation that was begun and not ended is unknown`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let log = try HistoryLog(path: path, process: 7)
    _ = log.begin("append", [Step(.append, "k", .integer(1))])
    let second = log.begin("read", [Step(.read, "k")])
    log.end(second, .done, steps: [Step(.read, "k", .list([1]))])
    let history = try History.read(files: [path])
    #expect(history.operations.map(\.outcome) == [.unknown, .done])
    #expect(history.operations[1].steps == [Step(.read, "k", .list([1]))])
  }
}
