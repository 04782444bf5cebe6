import Foundation
import StructuredQueries
import TestDatabase
import Testing

/// What the compiler says about likely mistakes.
///
/// A message that gets worse is a change of the library.
@Suite struct MistakeTests {
  struct Mistake: CustomTestStringConvertible, Sendable {
    var code: String
    var message: String
    var testDescription: String { code }

    init(_ code: String, _ message: String) {
      self.code = code
      self.message = message
    }
  }

  static let models = """
    import StructuredQueries
    import Foundation
    @Table struct Note {
      let id: Int
      var title: String
      var rating: Int?
      @Column(generated: .virtual, as: "length(title)") let size: Int
    }
    @Table struct Tag { let id: Int; var noteID: Int; var name: String }

    """

  static let mistakes = [
    Mistake(#"_ = Note.where { $0.title.eq(1) }"#, "cannot convert value of type 'Int'"),
    Mistake(#"_ = Note.where { $0.id.eq("1") }"#, "cannot convert value of type 'String'"),
    Mistake(#"_ = Note.where { $0.title == 1 }"#, "cannot"),
    Mistake(#"_ = Note.where { $0.id == $0.title }"#, "requires the types 'Int' and 'String'"),
    Mistake(#"_ = Note.where { $0.tittle.eq("a") }"#, "has no member 'tittle'"),
    Mistake(
      #"_ = Note.where { $0.title }"#,
      "'TableColumn<Note, String>' to expected argument type 'SQLQueryExpression<Bool>'"),
    Mistake(
      #"_ = Note.insert { Note(id: 1, rating: nil, size: 0) }"#,
      "missing argument for parameter 'title'"),
    Mistake(
      #"_ = Note.insert { Note.Draft(rating: nil) }"#, "missing argument for parameter 'title'"),
    Mistake(#"_ = Note.insert { ($0.title, $0.rating) } values: { ("a", "b") }"#, "cannot convert"),
    Mistake(#"_ = Note.insert { $0.size } values: { 1 }"#, "conform to 'WritableColumns'"),
    Mistake(
      #"_ = Note.insert { $0.title.upper() } values: { "A" }"#, "conform to 'WritableColumns'"),
    Mistake(#"_ = Note.all.update { $0.title = 1 }"#, "cannot assign value of type 'Int'"),
    Mistake(#"_ = Note.all.update { $0.title = nil }"#, "'nil' cannot be assigned"),
    Mistake(#"_ = Note.all.update { $0.size = 1 }"#, "a generated column is never written"),
    Mistake(#"_ = Note.all.update { $0.title.set(1) }"#, "cannot convert value of type 'Int'"),
    Mistake(
      #"_ = Note.join(Tag.all) { $0.id == $1.name }"#, "requires the types 'Int' and 'String'"),
    Mistake(#"let _: String = #sql("SELECT 1", as: Int.self)"#, "cannot convert value of type"),
    Mistake(
      #"_ = Note.select { $0.title }.union(Note.select { $0.id })"#,
      "'SelectedColumns<Int>' to return type 'SelectedColumns<String>'"),
    Mistake(
      #"_ = Note.where { $0.id.in(Tag.select { $0.name }) }"#,
      "no exact matches in call to instance method 'in'"),
    Mistake(
      #"_ = Note.select { $0.title }.rightJoin(Tag.all) { $0.id == $1.noteID }"#,
      "join first, select then"),
    Mistake(
      #"_ = Note.select { $0.title }.fullJoin(Tag.all) { $0.id == $1.noteID }"#,
      "join first, select then"),
    Mistake(#"_ = Note.order { _ in "title DESC" }"#, "cannot convert value of type 'String'"),
    Mistake(#"_ = Note.order { "\($0.id) DESC" }"#, "cannot convert value of type 'String'"),
    Mistake(#"_ = Note.where { 1 == $0.title }"#, "cannot convert value of type 'Int'"),
    Mistake(#"_ = Note.select { "a" + $0.id }"#, "cannot convert value of type 'String'"),
    Mistake(#"_ = Note.find("a")"#, "requires the types 'Note.PrimaryKey' (aka 'Int')"),
  ]

  @Test(arguments: mistakes)
  func `the compiler names the mistake`(_ mistake: Mistake) async throws {
    let output = try compile(mistake.code)
    #expect(
      output.split(separator: "\n").contains {
        $0.contains("error:") && $0.contains(mistake.message)
      },
      "\(output.prefix(2000))")
    #expect(!output.contains("failed to produce diagnostic"))
    #expect(!output.contains("reasonable time"))
  }

  @Test func `the same code without mistakes compiles`() throws {
    let output = try compile(
      """
      _ = Note.where { $0.title.eq("1") }.order { $0.id }
      _ = Note.join(Tag.all) { $0.id == $1.noteID }.select { ($0.title, $1.name) }
      _ = Note.all.update { $0.title = "a"; $0.rating = nil; $0.title.set($0.title + "!") }
      """)
    #expect(!output.contains("error:"), "\(output)")
  }

  @Test func `long expressions stay within the compiler's bounds`() throws {
    let output = try compile(
      """
      _ = Note.where {
        ($0.id > 1 && $0.title.like("a%") || $0.rating.is(nil)) && !($0.id + 1 == 3) && $0.id * 2 < 10
          && $0.title + "x" == "yx" && ($0.rating ?? 3) > 2 && $0.id.in([1, 2, 3]) && $0.title != "q"
      }
      .join(Tag.all) { $0.id == $1.noteID && $1.name != "x" && $1.id + $0.id > 3 }
      .join(Note.as("n2")) { a, b, c in a.id == c.id && c.rating == nil }
      .order { a, b, c in (a.title.lower().desc(), b.name, c.id + 1) }
      .select { a, b, c in (a.id, b.name + "!", c.rating ?? 0, a.id * 2 + b.id * 3 - c.id) }
      .limit(3)
      """)
    #expect(!output.contains("error:"), "\(output)")
  }

  @Test func `long expressions with values first and SQL by hand do too`() throws {
    let output = try compile(
      #"""
      _ = Note.where {
        1 + 2 * $0.id > 3 - $0.id && ("a" + $0.title == "b" || #sql("\($0.title) REGEXP 'a'")) && 5 != $0.rating
          && !#sql("1") && (10 - $0.id) * 2 <= $0.id && 1 < $0.id + $0.id * 2
      }
      .order { (#sql("\($0.title) DESC", as: String.self), 1 + $0.id) }
      """#)
    #expect(!output.contains("error:"), "\(output)")
  }

  /// Type-checks code beside the models and returns what the compiler says.
  private func compile(_ code: String) throws -> String {
    let files = try TestDirectory()
    let source = files.file("main.swift")
    try (Self.models + "func test() {\n" + code + "\n}\n")
      .write(toFile: source, atomically: true, encoding: .utf8)
    return try UserCompiler.run(["-typecheck", source]).output
  }
}
