import Foundation
import TestDatabase
import Testing

/// `docs/queries.md` is a program: its first block are models, and every block of Swift after it is a statement
/// whose SQL is the block below.
///
/// With `BOUTIQUE_UPDATE_DOCS=1` in the environment the SQL of the page is written anew.
@Suite struct QueriesPageTests {
  @Test func `the page's statements compile and give the SQL below them`() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/queries.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var blocks = text.components(separatedBy: "```")
    // Odd parts are blocks; the first line is the language.
    let indices = Array(stride(from: 1, to: blocks.count, by: 2))
    let swift = indices.filter { blocks[$0].hasPrefix("swift\n") }
    let models = try #require(swift.first)
    let statements = swift.dropFirst()
    #expect(statements.count > 60)
    var program = blocks[models].dropFirst("swift\n".count)
    program += """

      func show(_ statement: some Statement) { print(statement.query.sql) }
      func show(_ statements: [SQLFragment]) { statements.forEach(show) }

      """
    for index in statements {
      let code = blocks[index].dropFirst("swift\n".count)
      program += "func statement\(index)() {\n  show(\n\(code)  )\n  print(\"--\")\n}\n"
    }
    program += "@main enum Page {\n  static func main() {\n"
    for index in statements { program += "    statement\(index)()\n" }
    program += "  }\n}\n"
    let files = try TestDirectory()
    let source = files.file("page.swift")
    try String(program).write(toFile: source, atomically: true, encoding: .utf8)
    let objects = UserCompiler.products.appending(path: "StructuredQueries.build")
    let compiled = try UserCompiler.run(
      ["-parse-as-library", source, "-o", files.file("page")]
        + FileManager.default.contentsOfDirectory(atPath: objects.path)
        .filter { $0.hasSuffix(".o") }.map { objects.appending(path: $0).path })
    try #require(compiled.status == 0, "\(compiled.output)")
    let results = try UserCompiler.shell([files.file("page")]).output
      .components(separatedBy: "\n--\n").dropLast()
    try #require(results.count == statements.count)
    let isUpdating = ProcessInfo.processInfo.environment["BOUTIQUE_UPDATE_DOCS"] == "1"
    for (index, sql) in zip(statements, results) {
      let next = index + 2
      try #require(next < blocks.count && blocks[next].hasPrefix("sql\n"), "\(blocks[index])")
      let expected = blocks[next].dropFirst("sql\n".count)
      if isUpdating {
        blocks[next] = "sql\n\(sql)\n"
      } else {
        #expect(expected == sql + "\n", "\(blocks[index])")
      }
    }
    if isUpdating {
      try blocks.joined(separator: "```").write(to: page, atomically: true, encoding: .utf8)
    }
  }
}
