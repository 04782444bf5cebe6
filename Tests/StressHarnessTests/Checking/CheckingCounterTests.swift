import StressHistory
import Testing

@Suite struct CheckingCounterTests {
  private func increment(
    _ value: Int64, _ began: Int64, _ ended: Int64?, _ outcome: OperationRecord.Outcome? = nil
  ) -> OperationRecord {
    let add = Step(.add, "k", .integer(1))
    let isDone = outcome == nil && ended != nil
    return operation(
      "increment", isDone ? [Step(.read, "k", .integer(value)), add] : [add], began, ended, outcome)
  }

  private func look(_ value: Int64, _ began: Int64, _ ended: Int64) -> OperationRecord {
    operation("look", [Step(.read, "k", .integer(value))], began, ended)
  }

  private func check(_ operations: [OperationRecord], _ final: Int64) -> [Violation] {
    CounterCheck.violations(operations, final: ["k": final])
  }

  @Test func `two that found the same value have lost an update`() {
    #expect(check([increment(0, 1, 9), increment(0, 2, 9)], 1).numbers("lost update") == [1, 2])
    #expect(check([increment(0, 1, 9), increment(1, 2, 9)], 2).isEmpty)
  }

  @Test func `an acknowledged increment that the end does not have is lost`() {
    #expect(check([increment(0, 1, 2), increment(1, 3, 4)], 1).numbers("lost update") == [3])
    #expect(check([increment(0, 1, 2), increment(1, 3, nil)], 1).isEmpty)
  }

  @Test func `what nobody added is from nowhere`() {
    #expect(check([increment(0, 1, 2)], 2).checks == ["update from nowhere"])
    #expect(check([increment(1, 1, 2)], 2).checks == ["update from nowhere"])
    #expect(check([increment(0, 1, 2), increment(0, 3, nil)], 2).isEmpty)
    #expect(check([increment(0, 1, nil), increment(1, 3, 4)], 2).isEmpty)
    #expect(check([increment(0, 1, 2, .refused)], 1).checks == ["update from nowhere"])
  }

  @Test func `nobody finds less than what was left before he began`() {
    let write = increment(0, 1, 5)
    #expect(check([write, look(0, 6, 7)], 1).numbers("stale read") == [1, 6])
    #expect(check([write, look(0, 5, 7)], 1).isEmpty)
    #expect(
      check([look(1, 1, 2), look(0, 3, 4), increment(0, 1, nil)], 1).numbers("stale read") == [
        1, 3,
      ])
  }

  @Test func `a value that was seen is there at the end`() {
    #expect(check([increment(0, 1, nil), look(1, 2, 3)], 0).numbers("lost update") == [2])
    #expect(check([increment(0, 1, nil), look(1, 2, 3)], 1).isEmpty)
  }

  @Test(arguments: 0..<30)
  func `a serial store shows no violation, and one anomaly does`(seed: UInt64) {
    for plants in [false, true] {
      var simulation = Simulation(seed: seed)
      var store: [String: Int64] = [:]
      var operations: [OperationRecord] = []
      var isPlanted = false
      for index in 0..<200 {
        let turn = simulation.next("increment")
        var record = turn.record
        let key = "k\(simulation.random.int(0...2))"
        let add = Step(.add, key, .integer(Int64(simulation.random.int(1...3))))
        guard case .integer(let amount) = add.value else { continue }
        let value = store[key] ?? 0
        record.steps = record.outcome == .done ? [Step(.read, key, .integer(value)), add] : [add]
        // An acknowledged addition is not done. (A refused one that is done can be hidden by the unknown.)
        let isWrong = plants && !isPlanted && index > 60 && record.outcome == .done
        isPlanted = isPlanted || isWrong
        if turn.isApplied != isWrong { store[key] = value + amount }
        operations.append(record)
      }
      let history = History(operations: operations)
      #expect(CounterCheck.violations(history.operations, final: store).isEmpty == !plants)
    }
  }
}
