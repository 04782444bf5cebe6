import ConvergenceChecker
import ProcessHarness
import TestDatabase
import Testing

@Suite struct ShrinkingTests {
  @Test func `a list is shortened to the elements that fail together`() async {
    let shortest = await DeltaDebugging.shortest(Array(1...40)) {
      $0.contains(7) && $0.contains(23)
    }
    #expect(shortest == [7, 23])
  }

  @Test func `what fails without any element is shortened to nothing`() async {
    #expect(await DeltaDebugging.shortest([1, 2, 3]) { _ in true } == [])
  }

  @Test func `what never fails again stays as it is`() async {
    #expect(await DeltaDebugging.shortest([1, 2, 3]) { _ in false } == [1, 2, 3])
  }

  @Test func `a planted fault is shortened to the one write that it takes`() async throws {
    let directory = try TestDirectory()
    let shortest = await Shrinker(
      checks: [.ledger], directory: directory.path,
      program: try BuiltExecutable.path("boutique-converge"), patience: .milliseconds(500),
      tries: 1
    ).shortest(ScenarioGenerator.specimen(plant: .swallowedWrite))
    #expect(shortest.processes.map(\.name) == ["library1"])
    // Every fifth is swallowed.
    #expect(shortest.operations.map(\.id) == [5] || shortest.operations.map(\.id) == [10])
    #expect(shortest.operations.first?.steps == [])
    #expect(shortest.queries == [])
    #expect(shortest.feeds == [])
    #expect(!shortest.schema.contains { $0.sql.contains("note") })
  }
}
