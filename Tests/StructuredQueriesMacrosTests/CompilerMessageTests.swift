import Testing

/// Mistakes that only the compiler can find, and the words it finds for them.
@Suite struct CompilerMessageTests {
  static let models = """
    import Foundation
    import StructuredQueries
    @Table struct Note: Sendable {
      let id: UUID
      var title: String
      var stars: Int = 0
      var pinnedAt: Date?
      @Column(generated: .stored, as: "length(title)") let size: Int
    }
    @Table struct Tag: Sendable { let id: Int; var note: UUID }
    @Selection struct Use: Sendable { let title: String; let count: Int }

    """

  @Test(arguments: [
    (
      "Note.where { $0.title.eq(1) }",
      "cannot convert value of type 'Int' to expected argument type 'String'"
    ),
    (
      "Note.where { $0.stars > \"1\" }",
      "cannot convert value of type 'String' to expected argument type 'Int'"
    ),
    (
      "Note.where { $0.pinnedAt.eq(\"x\") }",
      "cannot convert value of type 'String' to expected argument type 'Date'"
    ),
    (
      "Note.where { $0.titel.eq(\"x\") }",
      "value of type 'Note.TableColumns' has no member 'titel'"
    ),
    (
      "Note.where { $0.title }",
      "cannot convert value of type 'TableColumn<Note, String>' to expected argument type "
        + "'SQLQueryExpression<Bool>'"
    ),
    (
      "Note.insert { Note(id: UUID(), stars: 1, size: 0) }",
      "missing argument for parameter 'title' in call"
    ),
    (
      "Note.insert { Note.Draft(stars: 1) }",
      "missing argument for parameter 'title' in call"
    ),
    (
      "Note.find(1)",
      "cannot convert value of type 'Int' to expected argument type 'Note.PrimaryKey' (aka 'UUID')"
    ),
    (
      "Tag.join(Note.all) { $0.note.eq($1.title) }",
      "instance method 'eq' requires the types 'UUID' and 'String' be equivalent"
    ),
    (
      "Note.all.select { Use.Columns(title: $0.title) }",
      "missing argument for parameter 'count' in call"
    ),
    (
      "Note.all.update { $0.title = 1 }",
      "cannot assign value of type 'Int' to type 'UpdatableColumn<String>'"
    ),
    (
      "Note.all.update { $0.size = 1 }",
      "'subscript(dynamicMember:)' is unavailable: a generated column is never written, and "
        + "assigned to others by .set(…)"
    ),
    (
      "Note.all.update { $0.size.set(1) }",
      "'set' is unavailable: a generated column is never written"
    ),
    (
      "Note.all.update { $0.title.set(1) }",
      "cannot convert value of type 'Int' to expected argument type 'String'"
    ),
  ])
  func `a wrong use of a model is an error at its place`(use: String, message: String) throws {
    let source = Self.models + "func use() { _ = \(use) }\n"
    let messages = try Compiler().messages(in: source)
    #expect(messages.contains("12: \(message)"), "said was: \(messages)")
    #expect(!messages.contains { $0.hasPrefix("expansion") })
  }

  @Test func `a right use of a model is none`() throws {
    let source =
      Self.models
        + """
        func use() {
          _ = Note.where { $0.title.eq("a") && $0.stars > 1 && $0.pinnedAt == nil }
          _ = Note.insert { Note.Draft(title: "a") }
          _ = Note.all.select { Use.Columns(title: $0.title, count: $0.size) }
        _ = Note.all.update { $0.stars = 1; $0.stars.set($0.size); $0.stars = $0.size + 1 }
        }
        """
    #expect(try Compiler().messages(in: source) == [])
  }

  @Test func `a type that cannot be a column is an error at its property`() throws {
    let messages = try Compiler().messages(
      in: """
        import StructuredQueries
        struct Place: Sendable {}
        @Table struct Note: Sendable {
          let id: Int
          var place: Place
        }
        """)
    #expect(
      Set(messages) == ["5: type 'Place' does not conform to protocol 'QueryRow'"])
  }

  @Test func `a representation of other values is an error at its property`() throws {
    let messages = try Compiler().messages(
      in: """
        import Foundation
        import StructuredQueries
        @Table struct Note: Sendable {
          @Column(primaryKey: true, as: Date.UnixTimeRepresentation.self) let at: Int
        }
        """)
    #expect(!messages.isEmpty)
    #expect(messages.allSatisfy { $0.hasPrefix("4: ") }, "said was: \(messages)")
  }

  @Test(arguments: [
    "final class Note { var id: Int = 1 }", "struct Note { let id: Int = 1 }",
    "struct Note { let id = 1 }", "struct Note { var a: (Int, Int) }",
    "struct Note { var id: Int; @Column var b: Int { 1 } }",
    "struct Note { @Column(generated: .stored, as: \"1\") var b: Int }",
    "struct Note { var a: [Int] }", "struct Note { @Ephemeral var a: Int }",
  ])
  func `a wrong declaration is an error of the macro and of nothing else`(
    declaration: String
  ) throws {
    let messages = try Compiler().messages(in: "import StructuredQueries\n@Table \(declaration)\n")
    #expect(messages.count == 1)
    #expect(messages.allSatisfy { $0.hasPrefix("2: ") }, "said was: \(messages)")
  }

  @Test(arguments: [
    [], ["-default-isolation", "MainActor"],
    [
      "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature",
      "MemberImportVisibility", "-enable-upcoming-feature", "ExistentialAny",
    ],
    [
      "-default-isolation", "MainActor", "-enable-upcoming-feature", "InferIsolatedConformances",
      "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
    ],
    ["-strict-memory-safety"],
  ])
  func `models compile without a warning in every dialect`(flags: [String]) throws {
    let use = "func use() { _ = Note.where { $0.title.eq(\"a\") } }\n"
    #expect(try Compiler().messages(in: Self.models + use, flags: flags) == [])
  }
}
