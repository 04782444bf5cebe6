import StressHistory
import Testing

@Suite struct CheckingRegistrationTests {
  private func register(
    _ owner: String, _ began: Int64, _ ended: Int64?, taken: Bool = false
  ) -> OperationRecord {
    operation(
      "register", [Step(.insert, "n", .text(owner))], began, ended, taken ? .refused : nil,
      error: taken ? "UNIQUE constraint failed" : nil)
  }

  private func look(_ owner: String?, _ began: Int64, _ ended: Int64) -> OperationRecord {
    operation("look", [Step(.read, "n", owner.map { .text($0) } ?? .none)], began, ended)
  }

  private func check(_ operations: [OperationRecord], _ owners: [String]) -> [Violation] {
    RegistrationCheck.violations(operations, final: owners.isEmpty ? [:] : ["n": owners])
  }

  @Test func `one wins, the others are told`() {
    #expect(check([register("a", 1, 9), register("b", 2, 9, taken: true)], ["a"]).isEmpty)
    #expect(
      check([register("a", 1, 9), register("b", 2, 9)], ["a"]).numbers("two winners") == [1, 2])
    #expect(
      check([register("a", 1, 9), register("b", 2, nil)], ["a", "b"]).checks == ["two owners"])
  }

  @Test func `who was told that he has it, has it`() {
    #expect(check([register("a", 1, 2)], []).numbers("lost registration") == [1])
    #expect(
      check([register("a", 1, 2), register("b", 3, nil)], ["b"]).numbers("wrong owner") == [1, 3])
    #expect(check([register("a", 1, nil)], []).isEmpty)
    #expect(check([register("a", 1, nil)], ["a"]).isEmpty)
    #expect(
      check([register("a", 1, 2, taken: true), register("b", 1, nil)], ["a"])
        .numbers("refused and done") == [1])
    #expect(check([register("a", 1, 2)], ["a", "z"]).checks == ["two owners"])
    #expect(check([], ["z"]).checks == ["phantom"])
  }

  @Test func `nobody loses to nobody`() {
    let loser = register("b", 2, 9, taken: true)
    #expect(check([loser], []).numbers("refused without a winner") == [2])
    // Whoever began later cannot have won before.
    #expect(
      check([loser, register("a", 10, 11)], ["a"]).numbers("refused without a winner") == [2])
    #expect(check([loser, register("a", 8, 11)], ["a"]).isEmpty)
  }

  @Test func `two names that were asked for together are there together`() {
    let both = operation(
      "register", [Step(.insert, "n", .text("a")), Step(.insert, "m", .text("a2"))], 1, nil)
    #expect(check([both], ["a"]).numbers("partial commit") == [1])
    #expect(RegistrationCheck.violations([both], final: ["n": ["a"], "m": ["a2"]]).isEmpty)
    #expect(check([both], []).isEmpty)
  }

  @Test func `a name stays who it belongs to`() {
    let winner = register("a", 1, 5)
    #expect(check([winner, look(nil, 6, 7)], ["a"]).numbers("stale read") == [1, 6])
    #expect(check([winner, look(nil, 5, 7)], ["a"]).isEmpty)
    #expect(
      check([register("a", 1, nil), look("a", 2, 3)], []).numbers("lost registration") == [2])
    #expect(
      check([look("a", 1, 2), register("a", 3, 4)], ["a"]).numbers("read from the future") == [
        1, 3,
      ])
    #expect(
      check([register("a", 0, nil), look("a", 1, 2), look(nil, 3, 4)], ["a"]).numbers("stale read")
        == [1, 3])
  }
}
