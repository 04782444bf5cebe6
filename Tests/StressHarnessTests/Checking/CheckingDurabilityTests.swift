import StressHistory
import Testing

@Suite struct CheckingDurabilityTests {
  private func commit(
    _ writer: String, _ number: Int64, _ began: Int64, _ ended: Int64?,
    _ outcome: OperationRecord.Outcome? = nil
  ) -> OperationRecord {
    operation(
      "commit", [Step(.insert, writer, ended == nil ? .none : .integer(number))], began, ended,
      outcome)
  }

  private func check(
    _ operations: [OperationRecord], _ writers: String, syncs: Bool = false, cuts: [Int64] = []
  ) -> [Violation] {
    let rows = writers.enumerated().map {
      DurabilityCheck.Link(number: Int64($0.offset) + 1, writer: String($0.element))
    }
    return DurabilityCheck(syncsEachCommit: syncs, cuts: cuts).violations(operations, final: rows)
  }

  private let three: [OperationRecord] = [
    operation("commit", [Step(.insert, "a", .integer(1))], 1, 2),
    operation("commit", [Step(.insert, "b", .integer(2))], 3, 4),
    operation("commit", [Step(.insert, "c", .integer(3))], 5, 6),
  ]

  @Test func `under full a power cut loses nothing`() {
    #expect(check(three, "abc", syncs: true, cuts: [9]).isEmpty)
    #expect(check(three, "ab", syncs: true, cuts: [9]).numbers("lost commit") == [5])
  }

  @Test func `under normal a power cut loses the end and nothing else`() {
    #expect(check(three, "ab", cuts: [9]).isEmpty)
    #expect(check(three, "", cuts: [9]).isEmpty)
    // What was acknowledged after the last cut stays.
    #expect(check(three, "ab", cuts: [5]).numbers("lost commit") == [5])
    #expect(check(three, "ab").numbers("lost commit") == [5])
  }

  @Test func `a gap is a violation whatever is promised`() {
    let rows = [
      DurabilityCheck.Link(number: 1, writer: "a"), DurabilityCheck.Link(number: 3, writer: "c"),
    ]
    let found = DurabilityCheck(syncsEachCommit: false, cuts: [9]).violations(three, final: rows)
    #expect(found.numbers("gap") == [5])
  }

  @Test func `what replaced a lost commit comes after all of before the cut`() {
    let later = commit("z", 2, 20, 21)
    #expect(check(three + [later], "az", cuts: [9]).isEmpty)
    let again = three + [later]
    let rows = [
      DurabilityCheck.Link(number: 1, writer: "a"), DurabilityCheck.Link(number: 2, writer: "z"),
      DurabilityCheck.Link(number: 3, writer: "c"),
    ]
    let found = DurabilityCheck(syncsEachCommit: false, cuts: [9]).violations(again, final: rows)
    #expect(found.numbers("gap") == [5, 20])
  }

  @Test func `a commit is there as it was made or not at all`() {
    #expect(check([commit("a", 2, 1, 2)], "a").numbers("torn") == [1])
    #expect(check([commit("a", 1, 1, 2, .refused)], "a").numbers("refused and done") == [1])
    #expect(check([commit("a", 1, 1, nil)], "a").isEmpty)
    #expect(check([commit("a", 1, 1, nil)], "").isEmpty)
    #expect(check([], "x").checks == ["phantom"])
  }
}
