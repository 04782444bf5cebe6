import StressHistory
import Testing

@Suite struct CheckingQueueTests {
  private func add(_ began: Int64) -> OperationRecord {
    operation("add", [Step(.insert, "j")], began, began + 1)
  }

  private func take(_ attempt: Int64, _ began: Int64) -> OperationRecord {
    operation("take", [Step(.take, "j", .integer(attempt))], began, began + 1)
  }

  private func finish(_ attempt: Int64, _ began: Int64, _ ended: Int64?) -> OperationRecord {
    operation("finish", [Step(.finish, "j", .integer(attempt))], began, ended)
  }

  private func giveUp(_ attempt: Int64, _ began: Int64) -> OperationRecord {
    operation("give up", [Step(.set, "j", .integer(attempt))], began, began + 1)
  }

  private func check(_ operations: [OperationRecord], _ job: QueueCheck.Job?) -> [Violation] {
    QueueCheck.violations(operations, final: job.map { ["j": $0] } ?? [:])
  }

  private let done = QueueCheck.Job(attempts: 1, results: 1, finishedBy: 1)

  @Test func `a job is taken and finished once`() {
    #expect(check([add(1), take(1, 3), finish(1, 5, 6)], done).isEmpty)
    #expect(check([add(1), take(1, 3), take(1, 4)], done).numbers("taken twice") == [3, 4])
    #expect(
      check([add(1), take(1, 3), finish(1, 5, 6), finish(1, 7, 8)], done).numbers("finished twice")
        == [5, 7])
    #expect(
      check(
        [add(1), take(1, 3), finish(1, 5, 6), finish(1, 7, nil)],
        QueueCheck.Job(attempts: 1, results: 2, finishedBy: 1)
      ).numbers("finished twice") == [5, 7])
  }

  @Test func `a job is not lost, nor its result`() {
    #expect(check([add(1)], nil).numbers("lost job") == [1])
    #expect(check([operation("add", [Step(.insert, "j")], 1, nil)], nil).isEmpty)
    let without = QueueCheck.Job(attempts: 1, results: 0)
    #expect(
      check([add(1), take(1, 3), finish(1, 5, 6)], without).numbers("lost result") == [5])
    #expect(check([add(1), take(1, 3), finish(1, 5, nil)], without).isEmpty)
    #expect(
      check([add(1), take(1, 3)], QueueCheck.Job(attempts: 0, results: 0)).numbers("lost take")
        == [3])
  }

  @Test func `a job is given again only when it was given up`() {
    let twice = QueueCheck.Job(attempts: 2, results: 0)
    #expect(check([add(1), take(1, 3), giveUp(1, 5), take(2, 7)], twice).isEmpty)
    #expect(
      check([add(1), take(1, 3), take(2, 7)], twice).numbers("taken from the living") == [3, 7])
    // One whose answer nobody heard may have given up anything.
    #expect(
      check([add(1), take(1, 3), operation("give up", [], 5, nil), take(2, 7)], twice).isEmpty)
    // One that began later has not.
    #expect(
      check([add(1), take(1, 3), take(2, 7), giveUp(1, 9)], twice).checks
        == ["taken from the living"])
  }

  @Test func `a finished job is not given again`() {
    let operations = [add(1), take(1, 3), giveUp(1, 4), finish(1, 5, 6), take(2, 7)]
    #expect(
      check(operations, QueueCheck.Job(attempts: 2, results: 1, finishedBy: 1))
        .numbers("taken after its end") == [5, 7])
  }

  @Test func `what nobody did has not happened`() {
    #expect(check([add(1)], QueueCheck.Job(attempts: 1, results: 0)).checks == ["phantom"])
    #expect(
      check([add(1), operation("take", [], 3, nil)], QueueCheck.Job(attempts: 1, results: 0))
        .isEmpty)
    #expect(check([add(1), take(1, 3)], done).checks == ["phantom"])
    #expect(
      check([], QueueCheck.Job(attempts: 0, results: 0)).checks == ["phantom"])
  }
}
