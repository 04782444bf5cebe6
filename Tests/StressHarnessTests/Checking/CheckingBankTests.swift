import StressHistory
import Testing

@Suite struct CheckingBankTests {
  private let bank = BankCheck(initial: ["a": 10, "b": 10])

  private func transfer(
    _ number: String, _ amount: Int64, _ began: Int64, _ ended: Int64?,
    _ outcome: OperationRecord.Outcome? = nil
  ) -> OperationRecord {
    operation(
      "transfer",
      [
        Step(.insert, number), Step(.add, "a", .integer(-amount)),
        Step(.add, "b", .integer(amount)),
      ], began, ended, outcome)
  }

  private func look(_ a: Int64, _ b: Int64, _ began: Int64) -> OperationRecord {
    operation(
      "sum", [Step(.read, "a", .integer(a)), Step(.read, "b", .integer(b))], began, began + 1)
  }

  private func check(
    _ operations: [OperationRecord], _ a: Int64, _ b: Int64, _ ledger: [String]
  ) -> [Violation] {
    bank.violations(operations, final: ["a": a, "b": b], ledger: ledger)
  }

  @Test func `every snapshot has the same total`() {
    #expect(check([look(10, 13, 1)], 10, 10, []).numbers("total") == [1])
    #expect(check([look(7, 13, 1)], 10, 10, []).isEmpty)
  }

  @Test func `nobody has less than nothing unless he may`() {
    #expect(check([look(-1, 21, 1)], 10, 10, []).numbers("overdrawn") == [1])
    var lenient = bank
    lenient.mayOverdraw = true
    #expect(
      lenient.violations([look(-1, 21, 1)], final: ["a": 10, "b": 10], ledger: []).isEmpty)
  }

  @Test func `an acknowledged transfer is in the ledger and in the balances`() {
    let done = transfer("t", 3, 1, 2)
    #expect(check([done], 7, 13, ["t"]).isEmpty)
    #expect(check([done], 10, 10, []).numbers("lost transfer") == [1])
    #expect(check([done], 10, 10, ["t"]).numbers("wrong balance") == [1])
    #expect(check([done], 7, 14, ["t"]).checks == ["wrong balance", "total"])
  }

  @Test func `an unknown transfer is there in whole or not at all`() {
    let unknown = transfer("t", 3, 1, nil)
    #expect(check([unknown], 7, 13, ["t"]).isEmpty)
    #expect(check([unknown], 10, 10, []).isEmpty)
    #expect(check([unknown], 7, 13, []).checks == ["wrong balance"])
  }

  @Test func `a refused transfer leaves nothing`() {
    let refused = transfer("t", 3, 1, 2, .refused)
    #expect(check([refused], 10, 10, []).isEmpty)
    #expect(check([refused], 7, 13, ["t"]).numbers("refused and done") == [1])
  }

  @Test func `a transfer nobody asked for is a phantom`() {
    #expect(check([], 10, 10, ["t"]).checks == ["phantom"])
  }
}
