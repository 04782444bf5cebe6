import Foundation
import ProcessHarness
import StressHarness
import TestDatabase
import Testing

/// Each script is a case, with each of its variants.
struct ScriptCase: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  let variant: String
  var testDescription: String { "\(name) \(variant)" }

  static func all() -> [ScriptCase] {
    let scripts = (try? ScriptFiles.all(near: BuiltExecutable.path("boutique-stress"))) ?? []
    return scripts.flatMap { script in
      ScriptRunner.variants(of: script.text).map {
        ScriptCase(name: script.name, text: script.text, variant: $0)
      }
    }
  }
}

@Suite(.serialized, .aloneInProcess) struct WorkloadScriptsTests {
  @Test func `the scripts are found`() throws {
    let program = try BuiltExecutable.path("boutique-stress")
    #expect(try ScriptFiles.all(near: program).count >= 8)
  }

  @Test(arguments: ScriptCase.all()) func `a script finds nothing wrong`(
    _ script: ScriptCase
  ) async throws {
    let problems = try await problems(script.text, script.name, script.variant)
    #expect(problems == [])
  }

  @Test(arguments: [
    "do CREATE TABLE t (a)\ndo SELECT count(*) FROM t => 1",
    "do CREATE TABLE t (a)\ndo INSERT INTO t VALUES (1) !> constraint",
    "client 1 python\ntell 1\nSELECT 1 => 2\nend\nwait all",
    "client 1 shell\ntell 1\nSELECT 1 => 2\nend\nwait all",
    "client 1 library\ntell 1\nSELECT 1 => 2\nend\nwait all",
    "client 1 shell\ntell 1\nSELECT * FROM nothing\nend\nwait all",
    "client 1 python\ntell 1\nbegin\nCREATE TABLE t (a)\ncrash\nend\nwait all\ndo SELECT 1 FROM t",
  ]) func `a script that is wrong is told so`(_ text: String) async throws {
    let problems = try await problems(text, "wrong", "")
    #expect(problems.count == 1, "\(problems)")
  }

  private func problems(
    _ text: String, _ name: String, _ variant: String
  ) async throws -> [String] {
    let directory = try TestDirectory()
    let runner = try ScriptRunner(
      text, name: name, variant: variant, database: directory.file("script.db"),
      program: try BuiltExecutable.path("boutique-stress"))
    return try await runner.problems()
  }
}
