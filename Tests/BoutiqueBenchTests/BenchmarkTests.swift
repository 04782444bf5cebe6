import Foundation
import Glibc
import ProcessHarness
import TestDatabase
import Testing

/// Whether the measurements work; never what they measure.
@Suite struct BenchmarkTests {
  static let smallest: [[String]] = [
    [
      "contention", "--writers=2", "--transactions=20", "--tasks=4",
      "--variants=baseline,single,many,grouped,lease,logged,handover",
    ],
    ["contention", "--writers=2", "--transactions=5", "--synchronous=full", "--variants=single"],
    ["handover", "--turns=10"],
    ["waiting", "--seconds=0.2", "--waiters=2"],
    ["live", "--queries=1,5", "--samples=5", "--pause=0.001", "--storm=0.1"],
    ["idle", "--queries=1,5", "--seconds=0.2"],
    ["list", "--rows=100,300", "--samples=5", "--pause=0.001"],
    ["store", "--items=50", "--singles=5"],
    ["rows", "--rows=200", "--singles=20", "--keys=50"],
    ["capture", "--transactions=5", "--bulk-transactions=2", "--bulk-rows=10"],
    ["models", "--rows=50", "--keys=10"],
    ["stream", "--megabytes=1"],
    ["import", "--rows=50"],
  ]

  @Test(arguments: smallest)
  func `a small run tells its figures and leaves nothing behind`(arguments: [String]) async throws {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench",
        arguments + ["--rounds=1", "--seed=7", "--json", "--directory=\(place.path)"])
      #expect(try await child.exit(within: .seconds(300)) == .exited(0), "\(child.standardError)")
      let report = try JSONDecoder().decode(
        JSONValue.self, from: Data(child.takeLines().joined(separator: "\n").utf8))
      #expect(report["benchmark"]?.string == arguments[0])
      #expect(report["seed"]?.int == 7)
      #expect(report["machine"]?["sqlite"]?.string?.isEmpty == false)
      let results = try #require(report["results"]?.list)
      #expect(!results.isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
    }
  }

  @Test func `every variant is compared with the baseline of its round`() async throws {
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench",
        [
          "contention", "--writers=2", "--transactions=20", "--variants=grouped", "--rounds=2",
          "--json",
        ])
      #expect(try await child.exit(within: .seconds(300)) == .exited(0), "\(child.standardError)")
      let report = try JSONDecoder().decode(
        JSONValue.self, from: Data(child.takeLines().joined(separator: "\n").utf8))
      let results = try #require(report["results"]?.list)
      #expect(results.map { $0["variant"]?.string } == ["baseline", "grouped"])
      #expect(results.allSatisfy { $0["rounds"]?.list?.count == 2 })
      let base = try #require(results.first?["rounds"]?.list)
      // Of the baseline itself every ratio is one.
      #expect(base.allSatisfy { $0["throughputRatio"]?.int == 1 })
    }
  }

  // MARK: All of them

  @Test
  func
    `a quick run of all has figures of each benchmark, and says that they are not to be compared`()
    async throws
  {
    let place = try TestDirectory()
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", ["--quick", "--json", "--directory=\(place.path)"])
      #expect(try await child.exit(within: .seconds(600)) == .exited(0), "\(child.standardError)")
      let report = try JSONDecoder().decode(
        JSONValue.self, from: Data(child.takeLines().joined(separator: "\n").utf8))
      #expect(report["isComparable"] == .bool(false))
      for fact in ["kernel", "sqlite", "swift", "commit", "fileSystem", "processor", "build"] {
        #expect(report["machine"]?[fact]?.string?.isEmpty == false, "\(fact)")
      }
      let parts = try #require(report["reports"]?.list)
      #expect(parts.count >= 8)
      for part in parts {
        #expect(part["results"]?.list?.isEmpty == false, "\(part["benchmark"]?.string ?? "")")
        #expect(part["settings"]?["common"] != nil)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
    }
  }

  @Test func `growth has a figure for each size, and a drawing that needs nothing from outside`()
    async throws
  {
    let place = try TestDirectory()
    let drawing = place.file("growth.svg")
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", ["growth", "--quick", "--json", "--svg", drawing])
      #expect(try await child.exit(within: .seconds(600)) == .exited(0), "\(child.standardError)")
      let report = try JSONDecoder().decode(
        JSONValue.self, from: Data(child.takeLines().joined(separator: "\n").utf8))
      let subjects = try #require(report["results"]?.list)
      #expect(subjects.count >= 6)
      for subject in subjects {
        let sizes = subject["sizes"]?.list?.count
        let lines = try #require(subject["lines"]?.list)
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0["values"]?.list?.count == sizes })
      }
    }
    let svg = try String(contentsOfFile: drawing, encoding: .utf8)
    #expect(svg.hasPrefix("<svg"))
    for word in ["nan", "inf\"", "href", "url(", "<script", "<image"] {
      #expect(!svg.contains(word), "\(word)")
    }
    #expect(svg.components(separatedBy: "<polyline").count > 15)
  }

  @Test func `without --json there are tables with the machine above them`() async throws {
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", ["handover", "--turns=5", "--rounds=1"])
      #expect(try await child.exit(within: .seconds(300)) == .exited(0), "\(child.standardError)")
      let lines = child.takeLines()
      #expect(lines.first?.hasPrefix("machine: ") == true)
      #expect(lines.contains { $0.contains("p50 µs") })
      #expect(lines.contains { $0.hasPrefix("lease ") })
    }
  }

  @Test(arguments: [
    ([], "usage: boutique-bench COMMAND"),
    (["contentoin"], "unknown command “contentoin”; did you mean contention?"),
    (["all", "--only=rwos"], "is not a list of these words: contention,"),
    (["growht"], "did you mean growth?"),
    (["contention", "--writers=2,0"], "is not a list of whole numbers above 0"),
    (["contention", "--variants=fast"], "is not a list of these words: baseline,"),
    (["live", "--rounds=0"], "option --rounds: “0” is not a whole number above 0"),
    (["capture", "x"], "“x” is one operand too many"),
  ])
  func `a wrong command line measures nothing`(
    arguments: [String], complaint: String
  ) async throws {
    try await withChildProcesses { children in
      let child = try await children.start(built: "boutique-bench", arguments)
      #expect(try await child.exit() == .exited(2))
      #expect(child.standardError.contains(complaint), "\(child.standardError)")
    }
  }

  @Test func `a directory that is missing is named`() async throws {
    try await withChildProcesses { children in
      let child = try await children.start(
        built: "boutique-bench", ["handover", "--directory=/nowhere/at/all"])
      #expect(try await child.exit() == .exited(1))
      #expect(child.standardError.contains("/nowhere/at/all: no directory can be made: No such"))
    }
  }
}
