import ConvergenceChecker
import ProcessHarness
import TestDatabase
import Testing

/// Random scenarios of fixed seeds, with the library as it is: everybody agrees.
@Suite(.serialized) struct AgreementTests {
  private func run(_ scenario: Scenario) async throws -> RunReport {
    let directory = try TestDirectory()
    return try await ConvergenceRun(
      scenario, in: directory.file("run"),
      program: try BuiltExecutable.path("boutique-converge"), patience: .seconds(20)
    ).run()
  }

  @Test func `the specimen without a fault agrees`() async throws {
    let report = try await run(ScenarioGenerator.specimen(plant: nil))
    #expect(report.violations == [])
    #expect(report.commits == 10)
    #expect(report.deliveries > 0)
    #expect(report.changes > 0)
    #expect(report.comparedMoments > 0)
  }

  @Test(arguments: [UInt64(7), 22, 505])
  func `undisturbed processes agree`(seed: UInt64) async throws {
    var options = ScenarioOptions()
    options.rounds = 1
    options.operations = 12
    options.disturbances = []
    let report = try await run(ScenarioGenerator.scenario(seed: seed, options: options))
    #expect(report.violations == [])
    #expect(report.kills == 0)
  }

  @Test(arguments: [UInt64(4), 502])
  func `killed, stopped and reopened processes agree`(seed: UInt64) async throws {
    var options = ScenarioOptions()
    options.rounds = 2
    options.operations = 10
    let scenario = ScenarioGenerator.scenario(seed: seed, options: options)
    #expect(!scenario.disturbances.isEmpty)
    #expect(try await run(scenario).violations == [])
  }
}
