import BoutiqueDB
import Foundation
import TestDatabase
import Testing

/// The README's example, compiled and run.
///
/// The text between the markers is compared with the README, so that neither can change without the
/// other.
@Suite struct ReadmeSnippetTests {
  private func program(url: URL, arguments: [String]) async throws {
    // BEGIN README
    let plan = BoutiqueMigrationPlan {
      BoutiqueMigration("v1") { conn in
        try conn.execute(
          "CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT, done INT DEFAULT 0)")
      }
    }
    let db = try await BoutiqueDB.open(
      url: url, migrations: plan)

    if arguments.dropFirst().first == "watch" {
      for try await open in db.observe({ conn in
        let rows = try conn.query("SELECT name FROM job WHERE NOT done")
        return try rows.map { try $0.decode("name", as: String.self) }
      }) {
        print("open jobs:", open)
        // END README
        if open.count == 10 { break }
        // BEGIN README
      }
    } else {
      try await db.write { conn in
        try conn.execute("INSERT INTO job (name) VALUES (?)", "job \(getpid())")
        try conn.execute("UPDATE job SET done = 1 WHERE id <= ?", conn.lastInsertedRowID - 10)
      }
    }
    // END README
    await db.close()
  }

  @Test func `the example of two processes works`() async throws {
    let directory = try TestDirectory()
    let url = directory.url("jobs.db")
    async let watching: Void = program(url: url, arguments: ["jobs", "watch"])
    for _ in 0..<12 { try await program(url: url, arguments: ["jobs"]) }
    try await watching
  }

  @Test func `the README shows the example that is tested`() throws {
    let here = URL(filePath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let test = try String(contentsOf: here, encoding: .utf8)
    let shown = try #require(
      readme.split(separator: "```swift\n").dropFirst().first?.components(separatedBy: "```")[0])
    var tested: [String] = []
    var isInside = false
    for line in test.components(separatedBy: "\n") {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text == "// BEGIN README" {
        isInside = true
      } else if text == "// END README" {
        isInside = false
      } else if isInside {
        tested.append(normal(text))
      }
    }
    let lines = shown.components(separatedBy: "\n").map(normal)
      .filter { !$0.hasPrefix("import ") && !$0.isEmpty }
    #expect(lines == tested.filter { !$0.isEmpty })
  }

  /// A line without its indentation and comment, and with the names that only a test has.
  private func normal(_ line: String) -> String {
    var text = line.components(separatedBy: "  //")[0].trimmingCharacters(in: .whitespaces)
    text = text.replacingOccurrences(of: "CommandLine.arguments", with: "arguments")
    return text.replacingOccurrences(
      of: "BoutiqueDB.sharedURL(group: \"org.example.jobs\", filename: \"jobs.db\")", with: "url")
  }
}
