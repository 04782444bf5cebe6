import Blackbird
import Foundation
import TestDatabase
import Testing

@Suite struct SearchQueryTests {
  private func withEssays(_ body: (Blackbird.Database) async throws -> Void) async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    for essay in [
      essay(1, "Sports", "The match of the day", state: 1),
      essay(2, "News", "Sports, weather and sports again", state: 1),
      essay(3, "Accidental podcast", "A show about technology", state: 2),
      essay(4, "Naïve café", nil, state: 2),
      essay(5, "Running", "He runs and ran", state: 0),
    ] { try await essay.write(to: db) }
    try await body(db)
    await db.close()
  }

  @Test func `words are found in any searched column, the better place first`() async throws {
    try await withEssays { db async throws in
      let results = try await Essay.fullTextSearch(from: db, matching: .match("sports"))
      #expect(results.map(\.id) == [[1], [2]])
      #expect(results[0].score > results[1].score)
      #expect(results[1].score > 0)
      // Stems and accents, as on Apple systems.
      #expect(try await Essay.found("run", in: db) == [5])
      #expect(try await Essay.found("NAIVE cafe", in: db) == [4])
      #expect(try await Essay.found("nothing", in: db) == [])
    }
  }

  @Test func `a search can be held to a column and to conditions on any other`() async throws {
    try await withEssays { db async throws in
      #expect(try await Essay.found(.match(column: \.$body, "sports"), in: db) == [2])
      #expect(try await Essay.found(.match("sports") && \.$state == 1, in: db) == [1, 2])
      #expect(
        try await Essay.found(.match(column: \.$body, "sports") && \.$state == 1, in: db) == [2])
      #expect(try await Essay.found(.match("sports") && \.$state == 2, in: db) == [])
      #expect(
        try await Essay.found(.match("sports") && .like(\.$slug, "%2") && \.$id > 1, in: db) == [2])
      #expect(
        try await Essay.found(
          .match(column: \.$title, "news") && .match(column: \.$body, "weather"), in: db) == [2])
      #expect(
        try await Set(
          Essay.found(
            .match(column: \.$title, "running") || .match(column: \.$body, "show"), in: db))
          == [3, 5])
      #expect(
        try await Set(Essay.found(.match("podcast") || \.$state == 0, in: db)) == [3, 5])
      #expect(try await Set(Essay.found(!.match("sports"), in: db)) == [3, 4, 5])
      #expect(try await Essay.found(.match("sports") && !.match("match"), in: db) == [2])
      #expect(try await Essay.found(.all, in: db).count == 5)
    }
  }

  @Test func `the last word may be a beginning, unless it is said otherwise`() async throws {
    try await withEssays { db async throws in
      #expect(
        try await Essay.found("accidental pod", in: db, .escapeQuerySyntaxAndPrefixMatchLastPhrase)
          == [3])
      #expect(try await Essay.found("accidental pod", in: db, .escapeQuerySyntax) == [])
      #expect(
        try await Essay.found("\"pod\"", in: db, .escapeQuerySyntaxAndPrefixMatchLastPhrase) == [])
      #expect(
        try await Essay.found("acc pod", in: db, .escapeQuerySyntaxAndPrefixMatchLastPhrase) == [])
    }
  }

  @Test func `quotation marks keep words together`() async throws {
    try await withEssays { db async throws in
      #expect(try await Essay.found("day match", in: db) == [1])
      #expect(try await Essay.found("\"day match\"", in: db) == [])
      #expect(try await Essay.found("“match of the day”", in: db) == [1])
      #expect(try await Essay.found("„match of“ sports", in: db) == [1])
    }
  }

  @Test(arguments: [
    "\"", "\"\"", "'", "", " ", "\n", "*", "-", "^", "(", ")", ":", "{", "}", "+", "NEAR(", "AND",
    "OR",
    "NOT", "a AND", "title:", "title : x", "{title} : x", "🙂", "🙂🙂 *", "a\u{0}b", "\u{0}", "a\"b",
    "\"a\"\"b",
    "\"\u{301}x", "“", "”“”", "a*b", "\\", "/* */", "--", ";", "?", "%", "_", "\u{202E}abc",
    "\u{FFFF}",
    "sports\"; DROP TABLE Essay; --", String(repeating: "word ", count: 3000),
    String(repeating: "\"", count: 999), String(repeating: "x", count: 100_000),
  ])
  func `no text is an error in the escaping modes`(text: String) async throws {
    try await withEssays { db async throws in
      for mode in [
        BlackbirdFullTextQuerySyntaxMode.escapeQuerySyntax,
        .escapeQuerySyntaxAndPrefixMatchLastPhrase,
      ] {
        _ = try await Essay.found(text, in: db, mode)
        _ = try await Essay.found(
          .match(column: \.$title, text, syntaxMode: mode) || .match(text, syntaxMode: mode), in: db
        )
        _ = try await Essay.found(
          .match(text, syntaxMode: mode) || \.$id == 1, in: db)
      }
      #expect(try await Essay.count(in: db) == 5)
    }
  }

  @Test func `the full syntax is FTS5's, and a text that is none is an error`() async throws {
    try await withEssays { db async throws in
      #expect(try await Essay.found("news OR podcast", in: db, .allowFullQuerySyntax).count == 2)
      #expect(try await Essay.found("sports NOT match", in: db, .allowFullQuerySyntax) == [2])
      #expect(try await Essay.found("title : sports", in: db, .allowFullQuerySyntax) == [1])
      let error = try await databaseError {
        try await Essay.found("sports AND", in: db, .allowFullQuerySyntax)
      }
      guard case .queryError = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test func `results have their text with marks, whole and in pieces`() async throws {
    try await withEssays { db async throws in
      let results = try await Essay.fullTextSearch(
        from: db, matching: .match("sports"),
        options: BlackbirdModelSearchOptions(
          highlights: .generate(prefix: "[", suffix: "]"),
          snippets: .generate(contextWords: 3, prefix: "<", suffix: ">", ellipsis: "…")))
      let second = try #require(results.last)
      #expect(second.highlighted(\.$body) == "[Sports], weather and [sports] again")
      #expect(second.highlighted(\.$title) == "News")
      #expect(second.highlighted(\.$state) == nil)
      #expect(second.snippet(\.$body) == "<Sports>, weather and…")
      #expect(second.snippet(\.$title) == nil)
      var bold = AttributeContainer()
      bold.languageIdentifier = "bold"
      let attributed = try #require(second.highlighted(\.$body, matchAttributes: bold))
      #expect(String(attributed.characters) == "Sports, weather and sports again")
      let marked = attributed.runs.filter { $0.languageIdentifier != nil }
        .map { String(attributed[$0.range].characters) }
      #expect(marked == ["Sports", "sports"])
      #expect(second.snippet(\.$title, matchAttributes: bold) == nil)

      let usual = try await Essay.fullTextSearch(from: db, matching: .match("podcast"))
      #expect(usual[0].highlighted(\.$title) == "Accidental <b>podcast</b>")
      #expect(usual[0].snippet(\.$title) == "Accidental <b>podcast</b>")

      let none = try await Essay.fullTextSearch(
        from: db, matching: .match("podcast"),
        options: BlackbirdModelSearchOptions(highlights: .none, snippets: .none))
      #expect(none[0].highlighted(\.$title) == nil && none[0].snippet(\.$title) == nil)
    }
  }

  @Test func `text that holds the marks is not taken for them`() async throws {
    let db = try Blackbird.Database.inMemoryDatabase()
    try await essay(1, "a <b>bold</b> word").write(to: db)
    let results = try await Essay.fullTextSearch(from: db, matching: .match("word"))
    #expect(results[0].highlighted(\.$title) == "a <b>bold</b> <b>word</b>")
    var marked = AttributeContainer()
    marked.languageIdentifier = "x"
    let attributed = try #require(results[0].highlighted(\.$title, matchAttributes: marked))
    #expect(attributed.runs.filter { $0.languageIdentifier != nil }.count == 1)
    await db.close()
  }

  @Test func `instances and rows come with the results or are read later`() async throws {
    try await withEssays { db async throws in
      let with = try await Essay.fullTextSearch(from: db, matching: .match("podcast"))
      #expect(with[0].preloadedInstance?.state == 2)
      let without = try await Essay.fullTextSearch(
        from: db, matching: .match("podcast"),
        options: BlackbirdModelSearchOptions(preloadInstances: false))
      #expect(without[0].preloadedInstance == nil)
      #expect(try await without[0].instance(from: db)?.title == "Accidental podcast")
      let row = try await without[0].row(from: db, columns: [\.$state])
      #expect(row?[\.$state] == 2)
      let result = without[0]
      let inside = try await db.transaction { core in
        (
          try result.instanceIsolated(from: core.database, core: core)?.id,
          try result.rowIsolated(from: core.database, core: core, columns: [\.$title])?[\.$title]
        )
      }
      #expect(inside.0 == 3 && inside.1 == "Accidental podcast")
      try await Essay.delete(from: db, matching: \.$id == 3)
      #expect(try await result.instance(from: db) == nil)
      #expect(try await result.row(from: db, columns: [\.$state]) == nil)
    }
  }

  @Test func `scores can be multiplied, and results be in another order`() async throws {
    try await withEssays { db async throws in
      func scores(_ options: BlackbirdModelSearchOptions<Essay>) async throws -> [Int: Double] {
        let results = try await Essay.fullTextSearch(
          from: db, matching: .match("sports"), options: options)
        return Dictionary(
          uniqueKeysWithValues: results.map { ($0.preloadedInstance?.id ?? 0, $0.score) })
      }
      try await Essay.update(in: db, set: [\.$state: 1000], matching: \.$id == 2)
      let plain = try await scores(.default)
      let doubled = try await scores(BlackbirdModelSearchOptions(scoreMultiple: 2))
      #expect(abs((doubled[1] ?? 0) - 2 * (plain[1] ?? 9)) < 1e-12)
      let byColumn = try await Essay.fullTextSearch(
        from: db, matching: .match("sports"),
        options: BlackbirdModelSearchOptions(scoreMultipleColumn: \.$state))
      #expect(byColumn.map(\.id) == [[2], [1]])
      let ordered = try await Essay.fullTextSearch(
        from: db, matching: .all, limit: 2,
        options: BlackbirdModelSearchOptions(orderBy: [.descending(\.$id)]))
      #expect(ordered.map(\.id) == [[5], [4]])
    }
  }

  @Test func `a limit takes the best`() async throws {
    try await withEssays { db async throws in
      let one = try await Essay.fullTextSearch(from: db, matching: .match("sports"), limit: 1)
      #expect(one.map(\.id) == [[1]])
      #expect(one[0].highlighted(\.$title) == "<b>Sports</b>")
      #expect(
        try await Essay.fullTextSearch(from: db, matching: .match("sports"), limit: 0).isEmpty)
    }
  }

  @Test func `results of several searches are merged with their best scores`() async throws {
    try await withEssays { db async throws in
      let exact = try await Essay.fullTextSearch(from: db, matching: .match("sports"))
      let loose = try await Essay.fullTextSearch(
        from: db, matching: .match("sports") || .match("podcast"),
        options: BlackbirdModelSearchOptions(scoreMultiple: 0.1))
      let merged = Essay.SearchResult.merge(results: loose, exact)
      #expect(Set(merged.map(\.id)) == [[1], [2], [3]])
      #expect(merged[0].score == exact[0].score)
      #expect(merged.map(\.score) == merged.map(\.score).sorted(by: >))
    }
  }

  @Test func `misuse is told`() async throws {
    try await withEssays { db async throws in
      await #expect(throws: BlackbirdModelError.self) {
        try await Essay.read(from: db, matching: .match("sports"))
      }
      await #expect(throws: BlackbirdModelError.self) {
        try await Essay.fullTextSearch(from: db, matching: .match(column: \.$slug, "slug"))
      }
      await #expect(throws: BlackbirdModelError.self) {
        try await Essay.fullTextSearch(from: db, matching: .match(column: \.$state, "1"))
      }
    }
  }
}
