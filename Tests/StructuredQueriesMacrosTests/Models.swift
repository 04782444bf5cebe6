public import Foundation
public import StructuredQueries

// Structs with everything that a declaration may have. That they compile is the first test.

@Table struct Note: Sendable, Equatable {
  @Column(primaryKey: true) let id: UUID
  var title: String
  var body: String
  var isArchived: Bool = false
  var updatedAt: Date = Date()
  @Column("pinned_at") var pinnedAt: Date?
}

@BoutiqueTable(strict: true, withoutRowID: true)
struct Setting: Sendable, Equatable {
  @Column(primaryKey: true) var key: String
  var value: String
  @Column(generated: .stored, as: "length(value)") let size: Int
}

enum Kind: String, Sendable, QueryBindable {
  case plain, special
}

struct Point: Codable, Sendable, Equatable {
  var x: Int
  var y: Int
}

@propertyWrapper struct Clamped: Sendable, Equatable {
  var wrappedValue: Int { didSet { wrappedValue = min(wrappedValue, 10) } }
  init(wrappedValue: Int) { self.wrappedValue = min(wrappedValue, 10) }
}

// swift-format-ignore
/// Comments, modifiers and attributes wherever they can stand.
@Table  // a table
struct /* its name: */ Odd /* done */: Sendable, Equatable {
  // The key.
  @Column( /* yes */ primaryKey: true /* really */) let id /* here */: /* there */ Int  // behind
  /** A word. */
  private(set) var secret: String = "a\"b" /* after */
  fileprivate var more: [UInt8] = []
  var `default`: Int = -1
  var `self`: Int? = nil
  var `my column`: Double = 1
  var observed: Int = 0 {
    // watched
    willSet { precondition(newValue >= 0) }
    didSet { precondition(oldValue >= 0) }
  }
  static let shared = 1
  static var count: Int { 1 }
  var computed: Int { 5 }
  var both: Int {
    get { 4 }
    set { secret = "\(newValue)" }
  }
  @Column(as: Date.UnixTimeRepresentation.self) var at: Date?
  @Column("tag_list", as: [String].JSONRepresentation.self) var tags: [String]
  @Column(as: [String: Int].JSONRepresentation.self) var counts: [String: Int]?
  @Column(as: Point.JSONRepresentation.self) var point: Point = Point(x: 1, y: 2)
  @Ephemeral var cache: [Int: Int] = [:]
  @Ephemeral let constant = 4
  @Ephemeral var later: Int?
  @Clamped var clamped: Int = 3
  var width, height: Int
  var first: Int = 1, second: Optional<String> = "x"
  var text: String = """
    two
      lines
    """
  var kind: Kind = Kind.plain
  var list: (Int) = 4
  #if DEBUG
    var build: String = "debug"
  #else
    var build: String = "release"
  #endif
  #if os(Linux)
    var onLinux: Bool?
  #elseif os(macOS)
    let onMac: Int = 4
  #endif
  func method() -> Int { 1 }
  subscript(index: Int) -> Int { index }
  enum Nested { case a }
}

enum Space {
  enum Level: Int, Sendable, QueryBindable { case low, high }
  private enum Hidden: Int, Sendable, QueryBindable { case low }

  @Table struct Inner: Sendable {
    enum Deep: Int, Sendable, QueryBindable { case low }
    private enum Own: Int, Sendable, QueryBindable { case low }
    let id: Int
    var level: Level = .low
    var deep: Inner.Deep
    var again: Self.Deep = Self.Deep.low
    private var own: Own = .low
    private var count: Int = 0
    @Column(as: Level.self) fileprivate var other: Level

    static var counted: Where<Self> { Self.where { $0.count.gt(0) } }
  }

  fileprivate struct Deeper {
    @Table fileprivate struct Inner: Sendable {
      private var hidden: Hidden
      var up: Level
    }
  }
}

extension Space {
  @Table("inner_3") struct Extended: Sendable { var level: Level }
}

/// A table that others see, with columns that they do not.
@Table public struct Open: Sendable {
  /// The key.
  public let id: Int
  /// A column that others read only.
  public private(set) var name: String
  /// A column with an initial value that others do not see.
  public var limit: Int = Open.standard * 2
  /// A column with an initial value in writing.
  public var sign: String? = "a"
  /// A column with an initial value of its time.
  public var date: Date = Date()
  var inside: Kind = .plain
  private var own: Kind?

  static let standard = 5

  /// Creates a row.
  public init(id: Int, name: String) {
    self.id = id
    self.name = name
  }
}

@Table package struct Shared: Sendable {
  package let id: Int
  let name: String
}

@Table private struct Hidden: Sendable {
  let id: Int
  let name: String
}

@Table struct Box<Value: QueryRepresentable & Sendable>: Sendable where Value.Output == Value {
  let id: Int
  var value: Value
  var other: Value?

  static func make(_ value: Value) -> Self { Self(id: 1, value: value) }
}

struct Outside<Value> {
  @Table struct Inside: Sendable { var id: Int }
}

@Table struct Entry: Sendable, Equatable {
  @Column(primaryKey: true) let day: Int
  @Column(primaryKey: true, check: "slot > ''") let slot: UUID
  @Column("author_id", unique: true, references: ForeignKey(Note.self, onDelete: .cascade))
  var author: UUID?
  @Column(default: .sql("unixepoch()"), collate: .nocase) var when: Int = 5
  @Column(primaryKey: false) var id: Int
}

@Table struct OptionalKey: Sendable, Equatable {
  let id: Int?
  var name: Swift.Optional<String>
}

@Selection struct Address: Sendable, Equatable {
  var street: String
  var city: String?
}

@Table struct Person: Sendable, Equatable {
  let id: Int
  @Columns var address: Address
  var name: String
}

@Selection struct Row: Sendable, Equatable {
  let note: Note
  let entry: Entry?
  @Column("n") var count: Int
  var selection: Int
}

@Selection struct Contact: Sendable, Equatable {
  @Columns var address: Address
  var name: String
}

@Table @Selection struct Both: Sendable {
  let id: Int
  @Column("n") var count: Int
}

@BoutiqueTable(
  "many", strict: true, checks: ["a > 1", "b < 2000"], unique: [["a", "b"]],
  foreignKeys: [TableForeignKey(["a"], references: Both.self)],
  indexes: [TableIndex("a", unique: true)])
struct Many: Sendable {
  var a: Int
  @Column(indexed: true, check: "b > 0") var b: Int = 1_000
  @Column(generated: .virtual, as: "a || '!'", indexed: true) let c: String
}

@DebugDescription @Table struct Marked: Sendable, CustomDebugStringConvertible {
  let id: Int
  @available(*, noasync) @Column("n") @Clamped var number: Int = 1
  @TaskLocal static var current = 0

  @available(*, deprecated) static let old = 1
  var debugDescription: String { "marked \(id)" }
}

@Table struct Stated: Table { var a: Int }
@MainActor @Table struct OnMainActor: Sendable {
  var id: Int
  var name: String = ""
}
@StructuredQueries.Table struct Qualified: Sendable {
  @StructuredQueries.Column("z") let id: Int
}

extension Odd {
  static let sample = Odd(
    id: 1, secret: "s", more: [1], default: 2, self: 3, my_column: 4)

  // swift-format-ignore
  private init(id: Int, secret: String, more: [UInt8], default: Int, self value: Int?, my_column: Double) {
    self.init(
      id: id, secret: secret, more: more, default: `default`, self: value, `my column`: my_column,
      observed: 5, at: Date(timeIntervalSince1970: 6), tags: ["a", "b"], counts: ["c": 7],
      width: 8, height: 9)
  }
}
