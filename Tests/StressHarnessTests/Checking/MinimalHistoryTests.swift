import StressHistory
import Testing

@Suite struct MinimalHistoryTests {
  @Test func `only the operations that show it are left`() {
    let operations = (1...100).map { appends("x+\($0)", Int64($0), Int64($0) + 1) }
    let least = MinimalHistory.shrink(operations) { rest in
      Set([17, 18, 93]).isSubset(of: rest.map(\.number))
    }
    #expect(least.map(\.number) == [17, 18, 93])
  }

  @Test func `a violation of a checker is made small`() {
    var operations = (1...60).map { appends("y+\($0)", Int64($0), Int64($0) + 1) }
    operations += [appends("x= x+1001", 100, 109), appends("x= x+1002", 101, 109)]
    operations += [appends("x=1001,1002", 110, 111)]
    let least = MinimalHistory.shrink(operations) { rest in
      AppendCheck.violations(rest).checks.contains("G-single")
    }
    #expect(least.map(\.number) == [100, 101, 110])
  }

  @Test func `it ends when the bound is reached`() {
    let operations = (1...1000).map { appends("x+\($0)", Int64($0), Int64($0) + 1) }
    var trials = 0
    let least = MinimalHistory.shrink(operations, bound: 30) { rest in
      trials += 1
      return rest.count > 700
    }
    #expect(trials == 30)
    #expect(least.count > 700)
  }
}
