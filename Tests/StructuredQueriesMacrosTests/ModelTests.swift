import Foundation
import StructuredQueries
import Testing

/// What the expansions do, seen through the statements and the decoding of the library.
@Suite struct ModelTests {
  @Test(arguments: [
    (Note.tableSchema, ["id", "title", "body", "isArchived", "updatedAt", "pinned_at"]),
    (Setting.tableSchema, ["key", "value", "size"]),
    (Space.Inner.tableSchema, ["id", "level", "deep", "again", "own", "count", "other"]),
    (Person.tableSchema, ["id", "street", "city", "name"]),
    (
      Odd.tableSchema,
      [
        "id", "secret", "more", "default", "self", "my column", "observed", "at", "tag_list",
        "counts", "point", "clamped", "width", "height", "first", "second", "text", "kind", "list",
        "build", "onLinux",
      ]
    ),
  ])
  func `the stored properties are the columns, in their order`(
    schema: TableSchema, columns: [String]
  ) {
    #expect(schema.columnNames == columns)
  }

  @Test(arguments: [
    (
      Note.createTable(),
      """
      CREATE TABLE "note" ("id" TEXT PRIMARY KEY NOT NULL, "title" TEXT NOT NULL, \
      "body" TEXT NOT NULL, "isArchived" INTEGER NOT NULL DEFAULT 0, "updatedAt" REAL NOT NULL, \
      "pinned_at" REAL)
      """
    ),
    (
      Setting.createTable(),
      """
      CREATE TABLE "setting" ("key" TEXT PRIMARY KEY NOT NULL, "value" TEXT NOT NULL, \
      "size" INTEGER NOT NULL GENERATED ALWAYS AS (length(value)) STORED) STRICT, WITHOUT ROWID
      """
    ),
    (
      Entry.createTable(),
      """
      CREATE TABLE "entry" ("day" INTEGER NOT NULL, "slot" TEXT NOT NULL CHECK (slot > ''), \
      "author_id" TEXT UNIQUE REFERENCES "note" ON DELETE CASCADE, \
      "when" INTEGER NOT NULL DEFAULT (unixepoch()) COLLATE "NOCASE", "id" INTEGER NOT NULL, \
      PRIMARY KEY ("day", "slot"))
      """
    ),
    (
      Many.createTable(),
      """
      CREATE TABLE "many" ("a" INTEGER NOT NULL, \
      "b" INTEGER NOT NULL DEFAULT 1000 CHECK (b > 0), \
      "c" TEXT NOT NULL GENERATED ALWAYS AS (a || '!') VIRTUAL, UNIQUE ("a", "b"), \
      CHECK (a > 1), CHECK (b < 2000), FOREIGN KEY ("a") REFERENCES "both") STRICT
      """
    ),
    (
      Person.createTable(),
      """
      CREATE TABLE "person" ("id" INTEGER PRIMARY KEY NOT NULL, "street" TEXT NOT NULL, \
      "city" TEXT, "name" TEXT NOT NULL)
      """
    ),
  ])
  func `the attributes become the definition of the table`(statement: SQLFragment, sql: String) {
    #expect(statement.sql == sql)
  }

  @Test func `an index is made for what is indexed`() {
    #expect(
      Many.createIndexes().map(\.sql) == [
        #"CREATE UNIQUE INDEX "many_a" ON "many" ("a")"#,
        #"CREATE INDEX "many_b" ON "many" ("b")"#,
        #"CREATE INDEX "many_c" ON "many" ("c")"#,
      ])
  }

  @Test func `what is written can be read, whatever the property looks like`() throws {
    #expect(try roundTrip(Odd.sample) == Odd.sample)
    #expect(try roundTrip(OptionalKey(id: nil, name: nil)) == OptionalKey(id: nil, name: nil))
    let person = Person(id: 1, address: Address(street: "a", city: nil), name: "b")
    #expect(try roundTrip(person) == person)
    let entry = Entry(day: 1, slot: UUID(), id: 2)
    #expect(try roundTrip(entry) == entry)
  }

  @Test func `an ephemeral property has its initial value in what is read`() throws {
    var odd = Odd.sample
    odd.cache = [1: 2]
    odd.later = 3
    #expect(try roundTrip(odd) == Odd.sample)
  }

  @Test func `a generated column is read and never written`() throws {
    let insert = Setting.insert { Setting(key: "k", value: "v", size: 0) }
    #expect(insert.query.sql == #"INSERT INTO "setting" ("key", "value") VALUES (?, ?)"#)
    let values: [SQLValue] = [.text("k"), .text("v"), .integer(1)]
    var decoder = RowDecoder(Values(values))
    #expect(try Setting(decoder: &decoder) == Setting(key: "k", value: "v", size: 1))
  }

  @Test func `a draft leaves the key open and has the initial values of the properties`() {
    let draft = Note.Draft(title: "t", body: "b")
    #expect(draft.id == nil)
    #expect(!draft.isArchived)
    #expect(Odd.Draft(tags: [], width: 1, height: 2).text == "two\n  lines")
    let note = Note(id: UUID(), title: "t", body: "b", isArchived: true)
    #expect(Note.Draft(note).id == note.id)
    #expect(Note.Draft(note).isArchived)
    let insert = Person.insert {
      Person.Draft(address: Address(street: "a", city: nil), name: "b")
    }
    #expect(
      insert.query.sql == #"INSERT INTO "person" ("street", "city", "name") VALUES (?, ?, ?)"#)
  }

  @Test func `a draft can be made with values that its users do not see`() {
    #expect(Open.Draft(name: "a").limit == 10)
    #expect(Open.Draft(name: "a", limit: 1).limit == 1)
  }

  @Test func `the key of several columns is a tuple`() {
    #expect(
      Entry.find((1, UUID())).query.sql.hasSuffix(
        #"WHERE (("entry"."day", "entry"."slot") = (?, ?))"#))
  }

  @Test func `the columns of a result row are selected by name`() {
    let rows = Note.leftJoin(Entry.all) { $0.id.eq($1.author) }.select {
      Row.Columns(note: $0, entry: $1, count: #sql("1"), selection: $1.day.count())
    }
    #expect(
      rows.query.sql.contains(#"(1) AS "n", count("entry"."day") AS "selection" FROM "note""#))
    let contacts = Person.select { Contact.Columns(address: $0.address, name: $0.name) }
    #expect(
      contacts.query.sql
        == #"SELECT "person"."street", "person"."city", "person"."name" AS "name" FROM "person""#)
    #expect(Both.Columns(id: #sql("1"), count: #sql("\(2)")).selection.count == 2)
    #expect(Row.tableSchema.columnNames.count == Row.columnCount)
  }

  @Test func `a generic table has one description for each of its types`() {
    #expect(Box<Int>.tableSchema === Box<Int>.tableSchema)
    #expect(Box<Int>.tableSchema !== Box<String>.tableSchema)
    #expect(Box<Int>.createTable() != Box<String>.createTable())
    #expect(Outside<Int>.Inside.tableName == "inside")
    #expect(Space.Extended.tableName == "inner_3")
    #expect(Box.make(1).value == 1)
  }

  @Test func `a private property is a column for the file`() {
    #expect(Space.Inner.counted.query.sql.hasSuffix(#"WHERE ("inner"."count" > ?)"#))
  }

  /// Writes a value and reads it back from what was bound.
  private func roundTrip<T: Table>(_ value: T) throws -> T {
    let values = try T.insert { value }.query.bindings
    var decoder = RowDecoder(Values(values))
    return try T(decoder: &decoder)
  }
}

/// A row of given values.
private final class Values: ColumnSource {
  private let values: [SQLValue]

  init(_ values: [SQLValue]) { self.values = values }

  var columnCount: Int { values.count }
  func sqlValue(at index: Int) -> SQLValue { values[index] }
  func isNull(at index: Int) -> Bool { values[index].isNull }
  func place(of index: Int) -> (table: String?, column: String) { (nil, "\(index)") }
}
