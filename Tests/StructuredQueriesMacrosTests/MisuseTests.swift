import Testing

/// Wrong uses of the macros, each with what is said, where, and what the fix-its make of it.
@Suite struct MisuseTests {
  struct Misuse: Sendable, CustomTestStringConvertible {
    let source: String
    let place: String
    let message: String
    var fixed: [String] = []
    /// Whether nothing is made of the declaration, as of any with a mistake in it.
    var stopsExpansion = true

    var testDescription: String { message }
  }

  static let misuses: [Misuse] = [
    Misuse(
      source: "@Table final class Note { var id: Int }",
      place: "1:14",
      message: "'@Table' can only be used with a struct",
      fixed: ["@Table struct Note { var id: Int }"]),
    Misuse(
      source: "@BoutiqueTable enum Note { case a }",
      place: "1:16",
      message: "'@BoutiqueTable' can only be used with a struct"),
    Misuse(
      source: "func f() {\n  @Table struct Note { var id: Int }\n}",
      place: "2:3",
      message:
        "'@Table' cannot be used with a type inside a function: move the type out of it"),
    Misuse(
      source: "enum A {\n  @Table private struct Note { var id: Int }\n}",
      place: "2:10",
      message:
        "'@Table' extends the struct, which a 'private' within another type does not allow",
      fixed: ["enum A {\n  @Table fileprivate struct Note { var id: Int }\n}"]),
    Misuse(
      source: "enum A { private enum B {\n  @Table struct Note { var id: Int }\n} }",
      place: "2:3",
      message:
        "'@Table' extends the struct, which a 'private' within another type does not allow"),
    Misuse(
      source: "@Table @BoutiqueTable struct Note { var id: Int }",
      place: "1:1",
      message: "'@BoutiqueTable' already makes this struct a table",
      fixed: ["@BoutiqueTable struct Note { var id: Int }"],
      stopsExpansion: false),
    Misuse(
      source: "@Table(name) struct Note { var id: Int }",
      place: "1:8",
      message: "the name of a table must be a string literal without interpolation"),
    Misuse(
      source: "@Table(\"\") struct Note { var id: Int }",
      place: "1:8",
      message: "the name of a table must not be empty"),
    Misuse(
      source: "@BoutiqueTable(strict: isStrict) struct Note { var id: Int }",
      place: "1:24",
      message: "'strict' must be 'true' or 'false'"),
    Misuse(
      source: "@BoutiqueTable(withoutRowID: true) struct Note { var title: String }",
      place: "1:16",
      message:
        "a table without row id needs a primary key: mark a property '@Column(primaryKey: true)'"
    ),
    Misuse(
      source: "@Table struct Note { static var id = 1; var name: Int { 1 } }",
      place: "1:15",
      message: "'Note' has no columns: declare a stored property"),
    Misuse(
      source: "@Table struct Note {\n  var id: Int\n  struct Draft {}\n}",
      place: "3:10",
      message: "'@Table' declares a type of the name 'Draft' itself"),
    Misuse(
      source: "@Selection struct Row {\n  var id: Int\n  typealias Columns = Int\n}",
      place: "3:13",
      message: "'@Selection' declares a type of the name 'Columns' itself"),
    Misuse(
      source: "@Table struct Note {\n  var id: Int\n  init(decoder: Int) {}\n}",
      place: "3:3",
      message: "'@Table' declares 'init(decoder:)' itself"),
    Misuse(
      source: "@Table struct Note {\n  var id: Int\n  #if canImport(X)\n  var a: Int\n  #endif\n}",
      place: "3:7",
      message:
        "a macro cannot tell whether this condition holds; use one of the platform, the compiler "
        + "or '-D' around columns"),

    Misuse(
      source: "@Table struct Note {\n  var done /* yet? */ = false // said here\n}",
      place: "2:7",
      message: "the column 'done' needs a type annotation",
      fixed: ["@Table struct Note {\n  var done: Bool /* yet? */ = false // said here\n}"]),
    Misuse(
      source: "@Table struct Note { var at = Date(timeIntervalSince1970: 0) }",
      place: "1:26",
      message: "the column 'at' needs a type annotation",
      fixed: ["@Table struct Note { var at: Date = Date(timeIntervalSince1970: 0) }"]),
    Misuse(
      source: "@Table struct Note { var at = now() }",
      place: "1:26",
      message: "the column 'at' needs a type annotation",
      fixed: ["@Table struct Note { var at: <#Type#> = now() }"]),
    Misuse(
      source: "@Table struct Note { var (a, b) = (1, 2) }",
      place: "1:26",
      message: "a tuple cannot be a column: declare one property for each of its parts"),
    Misuse(
      source: "@Table struct Note { var place: (x: Int, y: Int)? }",
      place: "1:33",
      message: "a tuple cannot be a column: declare one property for each of its parts"),
    Misuse(
      source: "@Table struct Note { var done: () -> Void }",
      place: "1:32",
      message: "a function cannot be a column; mark the property '@Ephemeral' to leave it out"),
    Misuse(
      source: "@Table struct Note { var value: any Sendable }",
      place: "1:33",
      message:
        "a value of type 'any Sendable' cannot be a column; mark the property '@Ephemeral' to leave "
        + "it out"),
    Misuse(
      source: "@Table struct Note { var value: Any }",
      place: "1:33",
      message:
        "a value of type 'Any' cannot be a column; mark the property '@Ephemeral' to leave it out"),
    Misuse(
      source: "@Table struct Note { var value: Int?? }",
      place: "1:33",
      message:
        "an optional of an optional cannot be a column; mark the property '@Ephemeral' to leave it "
        + "out"),
    Misuse(
      source: "@Table struct Note { var value: Int! }",
      place: "1:33",
      message: "an implicitly unwrapped optional cannot be a column",
      fixed: ["@Table struct Note { var value: Int? }"]),
    Misuse(
      source: "@Table struct Note {\n  // Words.\n  private var tags: [String]?\n}",
      place: "3:21",
      message:
        "a collection needs a representation to be a column, such as "
        + "'@Column(as: [String].JSONRepresentation.self)'",
      fixed: [
        "@Table struct Note {\n  // Words.\n  @Column(as: [String].JSONRepresentation.self) "
          + "private var tags: [String]?\n}"
      ]),
    Misuse(
      source: "@Table struct Note { @Column(\"x\") var tags: Set<String> }",
      place: "1:45",
      message:
        "a collection needs a representation to be a column, such as "
        + "'@Column(as: Set<String>.JSONRepresentation.self)'"),
    Misuse(
      source: "@Table struct Note {\n  var id: Int\n  @Column var twice: Int { id * 2 }\n}",
      place: "3:3",
      message:
        "the computed property 'twice' cannot be a column; a column that the database computes is "
        + "declared '@Column(generated: .virtual, as: \"…\") let twice'",
      fixed: ["@Table struct Note {\n  var id: Int\n  var twice: Int { id * 2 }\n}"]),
    Misuse(
      source: "@Table struct Note { var id: Int; @Column(\"c\") static var count: Int = 1 }",
      place: "1:35",
      message: "the static property 'count' cannot be a column",
      fixed: ["@Table struct Note { var id: Int; static var count: Int = 1 }"]),
    Misuse(
      source: "@Table struct Note { lazy var title: String = \"\" }",
      place: "1:22",
      message: "a lazy property cannot be a column",
      fixed: ["@Table struct Note { @Ephemeral lazy var title: String = \"\" }"]),
    Misuse(
      source: "@Table struct Note { weak var owner: Owner? }",
      place: "1:22",
      message: "a 'weak' reference cannot be a column",
      fixed: ["@Table struct Note { @Ephemeral weak var owner: Owner? }"]),
    Misuse(
      source: "@Table struct Note { let done: Bool = false }",
      place: "1:37",
      message: "the constant 'done' has its value already and could never be read from a row",
      fixed: [
        "@Table struct Note { var done: Bool = false }",
        "@Table struct Note { let done: Bool }",
        "@Table struct Note { @Ephemeral let done: Bool = false }",
      ]),
    Misuse(
      source: "@Table struct Note { var id: Int; @Ephemeral var cache: Int }",
      place: "1:50",
      message:
        "the ephemeral property 'cache' needs an initial value, since no row has one for it",
      fixed: ["@Table struct Note { var id: Int; @Ephemeral var cache: Int = <#value#> }"]),
    Misuse(
      source:
        "@Table struct Note { @Column(generated: .stored, as: \"1\") private(set) var n: Int }",
      place: "1:72",
      message: "the generated column 'n' is never written and must be declared with 'let'",
      fixed: [
        "@Table struct Note { @Column(generated: .stored, as: \"1\") private(set) let n: Int }"
      ]),
    Misuse(
      source: "@Table struct Note { @Column(generated: .stored, as: \"1\") let n: Int = 1 }",
      place: "1:70",
      message: "the generated column 'n' has the value of its expression and no initial one",
      fixed: ["@Table struct Note { @Column(generated: .stored, as: \"1\") let n: Int }"]),
    Misuse(
      source: "@Table struct Note { var id: Int; @Column(\"c\") @Ephemeral var cache: Int = 1 }",
      place: "1:48",
      message: "a property is either '@Column' or '@Ephemeral'",
      fixed: ["@Table struct Note { var id: Int; @Column(\"c\") var cache: Int = 1 }"]),
    Misuse(
      source: "@Table struct Note { var id: Int; @Columns var place: Place? }",
      place: "1:55",
      message: "a group of columns cannot be optional: make its columns optional"),
    Misuse(
      source: "@Table struct Note {\n  var title: Int\n  @Column(\"Title\") var name: Int\n}",
      place: "3:11",
      message:
        "another column is named \"Title\" too; names that differ in case only are one to SQLite"),
    Misuse(
      source: "@Table struct Note { @Column(name) var id: Int }",
      place: "1:30",
      message: "the name of a column must be a string literal without interpolation"),
    Misuse(
      source: "@Table struct Note { @Column(\"\") var id: Int }",
      place: "1:30",
      message: "the name of a column must not be empty"),
    Misuse(
      source: "@Table struct Note { @Column(primaryKey: isKey) var a: Int }",
      place: "1:42",
      message: "'primaryKey' must be 'true' or 'false'"),
    Misuse(
      source: "@Table struct Note { @Column(as: representation) var a: Int }",
      place: "1:34",
      message:
        "the representation must be written as a type, such as "
        + "'Date.UnixTimeRepresentation.self'"),
    Misuse(
      source: """
        @Table struct Entry {
          @Column(primaryKey: true) let day: Int
          @Column(primaryKey: true) let slot: Int?
        }
        """,
      place: "3:39",
      message:
        "'slot' conflicts with the other primary key: the parts of a composite primary key cannot "
        + "be optional"),
    Misuse(
      source: "@Selection struct Row { @Column(primaryKey: true) let id: Int }",
      place: "1:25",
      message: "a '@Selection' has no primary key; only a '@Table' has one"),
    Misuse(
      source: "@Table struct Note { var id: Int; @Column func f() {} }",
      place: "1:35",
      message: "'@Column' can only mark a stored property",
      fixed: ["@Table struct Note { var id: Int; func f() {} }"],
      stopsExpansion: false),
    Misuse(
      source: "struct Note { @Column(\"x\") var id: Int }",
      place: "1:15",
      message:
        "'@Column' has a meaning only in a struct that is a '@Table', '@BoutiqueTable' or "
        + "'@Selection'",
      fixed: ["struct Note { var id: Int }"]),
    Misuse(
      source: "@Table struct Note { @Column @Column(\"b\") var a: Int }",
      place: "1:30",
      message: "a second '@Column': say all in one",
      fixed: ["@Table struct Note { @Column var a: Int }"]),
    Misuse(
      source: "@Table struct Note: ~Copyable { var id: Int }",
      place: "1:21",
      message: "a struct that cannot be copied cannot be a table or a result row"),
    Misuse(
      source: "@Table struct Note { var _scope: Int }",
      place: "1:26",
      message:
        "the expansion needs the name '_scope': name the property otherwise and the column with "
        + "'@Column(\"_scope\")'"),

    Misuse(
      source: "let f = #sql(text)",
      place: "1:14",
      message:
        "'#sql' takes a string literal, so that values are bound and never become part of the text"),
    Misuse(
      source: #"let f = #sql("a = '\(x)'")"#,
      place: "1:20",
      message: "an interpolated value within quotes is not bound: remove the quotes around it"),
    Misuse(
      source: #"let f = #sql("a = (1, [b)")"#,
      place: "1:25",
      message: "')' has no counterpart in this SQL"),
    Misuse(
      source: #"let f = #sql("a = 'it''s")"#,
      place: "1:19",
      message: "''' has no counterpart in this SQL"),
    Misuse(
      source: #"let f = #sql("é \"a\" ) -- (")"#,
      place: "1:24",
      message: "')' has no counterpart in this SQL"),
  ]

  @Test(arguments: misuses)
  func `a wrong use is reported at its place, with what would mend it`(misuse: Misuse) throws {
    let expansion = Expansion(of: misuse.source)
    let message = try #require(
      expansion.messages.first { $0.text == misuse.message },
      "said was: \(expansion.messages.map(\.text))")
    #expect(message.place == misuse.place)
    #expect(message.fixed == misuse.fixed)
    #expect(expansion.text.contains("TableColumn") != misuse.stopsExpansion)
    for fixed in message.fixed {
      let isMended = !Expansion(of: fixed).messages.contains { $0.text == misuse.message }
      #expect(isMended, "is still said of: \(fixed)")
    }
  }

  @Test func `all mistakes in a declaration are reported, each once`() {
    let expansion = Expansion(
      of: """
        @Table struct Note {
          let a: Int = 1
          var b = 2
          var c: (Int, Int)
        }
        """)
    #expect(expansion.messages.map(\.place) == ["2:14", "3:7", "4:10"])
  }

  @Test func `a mistake in what is a table and a result row is reported once`() {
    let expansion = Expansion(of: "@Table @Selection struct Note { let a: Int = 1 }")
    #expect(expansion.messages.count == 1)
  }

  @Test(arguments: [
    #"#sql("a = \(x) AND b = 'it''s (fine' -- don't"# + "\\n" + #"AND c IN (1, 2) /* ' */")"#,
    ##"#sql(#"a = "x" AND b = '\'"#)"##,
    #"#sql("\($0.title) LIKE \(pattern) ESCAPE '\\'")"#,
  ])
  func `quotes within comments and doubled quotes are no mistakes`(source: String) {
    #expect(Expansion(of: source).messages.map(\.text) == [])
  }
}
