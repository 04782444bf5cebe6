import ConvergenceChecker
import Testing

@Suite struct ScriptTests {
  @Test(arguments: UInt64(0)..<20)
  func `a seed makes the same script each time, and the script is read back whole`(
    seed: UInt64
  ) throws {
    let scenario = ScenarioGenerator.scenario(seed: seed, options: ScenarioOptions())
    let text = try ScriptFile.text(of: scenario)
    let again = ScenarioGenerator.scenario(seed: seed, options: ScenarioOptions())
    #expect(try ScriptFile.text(of: again) == text)
    #expect(try ScriptFile.scenario(from: text) == scenario)
  }

  @Test func `seeds differ`() {
    let options = ScenarioOptions()
    let one = ScenarioGenerator.scenario(seed: 1, options: options)
    let two = ScenarioGenerator.scenario(seed: 2, options: options)
    #expect(one.schema != two.schema)
    #expect(one.operations != two.operations)
  }

  @Test func `a line that is no part of a script is refused by number`() throws {
    let text = try ScriptFile.text(of: ScenarioGenerator.specimen(plant: nil))
    let error = #expect(throws: ScriptFile.Malformed.self) {
      try ScriptFile.scenario(from: text + "{\"operation\":7}\n")
    }
    #expect(error?.description.contains("line \(text.split(separator: "\n").count + 1) ") == true)
    #expect(throws: ScriptFile.Malformed.self) { try ScriptFile.scenario(from: "") }
  }
}
