import StressHistory
import Testing

@Suite struct CheckingAppendTests {
  private func check(
    _ operations: [OperationRecord], _ final: [String: [Int64]]? = nil
  ) -> [Violation] {
    AppendCheck.violations(operations, final: final)
  }

  @Test func `an acknowledged append that is not in the final state is lost`() {
    let operations = [appends("x+1", 1, 2), appends("x+2", 3, 4)]
    #expect(check(operations, ["x": [2]]).numbers("lost append") == [1])
    #expect(check(operations, ["x": [1, 2]]).isEmpty)
    #expect(check([appends("x+1", 1, nil), appends("x+2", 3, 4)], ["x": [2]]).isEmpty)
  }

  @Test func `an acknowledged append that a later read does not show is lost`() {
    let operations = [appends("x+1", 1, 2), appends("x=", 3, 4)]
    #expect(check(operations).numbers("lost append") == [1, 3])
    #expect(check([appends("x+1", 1, 4), appends("x=", 3, 5)]).isEmpty)
  }

  @Test func `a value that was read and is gone at the end is a lost append`() {
    let operations = [appends("x+1", 1, nil), appends("x=1", 3, 4)]
    #expect(check(operations, ["x": []]).numbers("lost append") == [1, 3])
    #expect(check(operations, ["x": [1]]).isEmpty)
  }

  @Test func `a value that stands twice was appended twice`() {
    let operations = [appends("x+1", 1, 2), appends("x=1,1", 3, 4)]
    #expect(check(operations, ["x": [1, 1]]).numbers("duplicate append") == [1, 3])
  }

  @Test func `a value that nobody appended is a phantom`() {
    #expect(check([appends("x=9", 3, 4)]).numbers("phantom") == [3])
  }

  @Test func `a value of a refused append must not be seen`() {
    let read = appends("x=1", 3, 4)
    #expect(check([appends("x+1", 1, 2, .refused), read]).numbers("aborted read") == [1, 3])
    #expect(check([appends("x+1", 1, 2, .unknown), read]).isEmpty)
  }

  @Test func `a value must not be read before its append was asked for`() {
    let read = appends("x=1", 1, 5)
    #expect(check([read, appends("x+1", 6, 7)]).numbers("read from the future") == [1, 6])
    #expect(check([read, appends("x+1", 4, 7)]).isEmpty)
  }

  @Test func `a read must not show a part of what one operation appended`() {
    let both = appends("x+1 x+2", 1, 9)
    #expect(
      check([both, appends("x=1", 3, 4)], ["x": [1, 2]]).numbers("intermediate read") == [1, 3])
    #expect(check([both, appends("x=1,2", 3, 4)], ["x": [1, 2]]).isEmpty)
  }

  @Test func `all must see beginnings of one list`() {
    let operations = [
      appends("x+1", 1, 9), appends("x+2", 2, 9), appends("x=1,2", 3, 9), appends("x=2", 4, 9),
    ]
    #expect(check(operations).numbers("incompatible orders") == [3, 4])
    #expect(check(operations.dropLast() + [appends("x=1", 4, 9)]).isEmpty)
  }

  @Test func `an operation must see its own appends`() {
    #expect(check([appends("x= x+1 x=", 1, 2)], ["x": [1]]).numbers("internal") == [1])
    #expect(check([appends("x+1 x=", 1, 2)], ["x": [1]]).numbers("internal") == [1])
    #expect(check([appends("x= x+1 x=1", 1, 2)], ["x": [1]]).isEmpty)
  }

  @Test func `of an unknown operation all must be there or nothing`() {
    let operations = [appends("x+1 y+2", 1, nil)]
    #expect(check(operations, ["x": [1]]).numbers("partial commit") == [1])
    #expect(check(operations, ["x": [1], "y": [2]]).isEmpty)
    #expect(check(operations, [:]).isEmpty)
  }

  // MARK: Cycles

  @Test func `writes in opposite orders are a cycle of writes`() {
    let operations = [appends("x+1 y+1", 1, 9), appends("x+2 y+2", 2, 9)]
    #expect(check(operations, ["x": [1, 2], "y": [2, 1]]).numbers("G0") == [1, 2])
    #expect(check(operations, ["x": [1, 2], "y": [1, 2]]).isEmpty)
  }

  @Test func `two that see each other are a cycle of information`() {
    let first = appends("x+1 y=2", 1, 9)
    #expect(check([first, appends("y+2 x=1", 2, 9)]).numbers("G1c") == [1, 2])
    #expect(check([first, appends("y+2 x=", 2, 9)]).isEmpty)
  }

  @Test func `a lost update is a cycle with one overwritten read`() {
    let first = appends("x= x+1", 1, 9)
    #expect(check([first, appends("x= x+2", 2, 9)], ["x": [1, 2]]).numbers("G-single") == [1, 2])
    #expect(check([first, appends("x=1 x+2", 2, 9)], ["x": [1, 2]]).isEmpty)
  }

  @Test func `a read between two writes of one operation is a cycle`() {
    let write = appends("x+1 y+1", 1, 9)
    #expect(
      check([write, appends("x=1 y=", 2, 9)], ["x": [1], "y": [1]]).numbers("G-single") == [1, 2])
    #expect(check([write, appends("x=1 y=1", 2, 9)], ["x": [1], "y": [1]]).isEmpty)
  }

  @Test func `write skew is a cycle with two overwritten reads`() {
    let first = appends("x= y+1", 1, 9)
    #expect(
      check([first, appends("y= x+1", 2, 9)], ["x": [1], "y": [1]]).numbers("G2") == [1, 2])
    #expect(check([first, appends("y=1 x+1", 2, 9)], ["x": [1], "y": [1]]).isEmpty)
  }

  @Test func `a read of what was overwritten before it began is a cycle over real time`() {
    let write = appends("x+1", 1, 5)
    let found = check([write, appends("x=", 6, 7), appends("x=1", 8, 9)])
    #expect(found.numbers("G-single-realtime") == [1, 6])
    #expect(check([write, appends("x=", 4, 7), appends("x=1", 8, 9)]).isEmpty)
  }

  @Test func `writes against real time are a cycle`() {
    let write = appends("x+1", 1, 5)
    #expect(check([write, appends("x+2", 6, 7)], ["x": [2, 1]]).numbers("G0-realtime") == [1, 6])
    #expect(check([write, appends("x+2", 5, 7)], ["x": [2, 1]]).isEmpty)
    // Nobody knows when an unknown one took effect.
    #expect(check([appends("x+1", 1, nil), appends("x+2", 6, 7)], ["x": [2, 1]]).isEmpty)
    #expect(check([appends("x+1", 1, 5, .unknown), appends("x+2", 6, 7)], ["x": [2, 1]]).isEmpty)
  }

  @Test func `real time goes over operations between`() {
    let found = check([
      appends("x+1", 1, 2), appends("z=", 3, 4), appends("z=", 5, 6), appends("x=", 7, 8),
      appends("x=1", 9, 10),
    ])
    #expect(found.numbers("G-single-realtime") == [1, 7])
  }

  @Test func `of a long cycle the shortest is shown`() {
    let operations = [
      appends("a= b+1", 1, 99), appends("b= c+1", 2, 99), appends("c= d+1", 3, 99),
      appends("d= a+1", 4, 99), appends("p= q+1", 5, 99), appends("q= p+1", 6, 99),
    ]
    let found = check(operations, ["a": [1], "b": [1], "c": [1], "d": [1], "p": [1], "q": [1]])
    #expect(found.count == 2)
    #expect(found.map { $0.operations.map(\.number) }.contains([1, 2, 3, 4]))
    #expect(found.map { $0.operations.map(\.number) }.contains([5, 6]))
  }
}
