import Testing

/// Whole expansions, one for each kind of struct; what single properties become is in `ModelTests`.
@Suite struct ExpansionTests {
  @Test func `a table has columns, schema, coding, key and draft`() {
    let expansion = Expansion(
      of: """
        @Table struct Note: Sendable {
          @Column(primaryKey: true) let id: UUID  // the key
          var isArchived: Bool = false
          @Column("pinned_at") var pinnedAt: Date?
        }
        """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.text == """
        struct Note: Sendable {
          let id: UUID  // the key
          var isArchived: Bool = false
          var pinnedAt: Date?

          nonisolated struct TableColumns: StructuredQueries.TableColumnSet {
            typealias QueryValue = Note
            let _scope: StructuredQueries.ColumnScope
            init(_scope: StructuredQueries.ColumnScope) { self._scope = _scope }
            var id: StructuredQueries.TableColumn<Note, UUID> { _scope.column("id") }
            var isArchived: StructuredQueries.TableColumn<Note, Bool> { _scope.column("isArchived") }
            var pinnedAt: StructuredQueries.TableColumn<Note, Date?> { _scope.column("pinned_at") }
          }

          nonisolated static let tableSchema: StructuredQueries.TableSchema = StructuredQueries.TableSchema(
            "note",
            [
              StructuredQueries.ColumnDefinition("id", UUID.self, primaryKey: true),
              StructuredQueries.ColumnDefinition("isArchived", Bool.self, default: false),
              StructuredQueries.ColumnDefinition("pinned_at", Date?.self),
            ]
          )

          nonisolated func encodeColumns(into encoder: inout StructuredQueries.RowEncoder) {
            encoder.encode(self.id, as: UUID.self)
            encoder.encode(self.isArchived, as: Bool.self)
            encoder.encode(self.pinnedAt, as: Date?.self)
          }

          typealias PrimaryKey = UUID

          nonisolated static func encodeKey(_ key: PrimaryKey, into encoder: inout StructuredQueries.RowEncoder) {
            encoder.encode(key, as: UUID.self)
          }

          nonisolated struct Draft: StructuredQueries.TableDraft {
            typealias Model = Note
            var id: UUID?
            var isArchived: Bool
            var pinnedAt: Date?
            init(id: UUID? = nil, isArchived: Bool = false, pinnedAt: Date? = nil) {
              self.id = id
              self.isArchived = isArchived
              self.pinnedAt = pinnedAt
            }
            init(_ model: Note) {
              self.id = model.id
              self.isArchived = model.isArchived
              self.pinnedAt = model.pinnedAt
            }
            nonisolated func encodeColumns(into encoder: inout StructuredQueries.RowEncoder) {
              encoder.encodeKey(self.id, as: UUID.self)
              encoder.encode(self.isArchived, as: Bool.self)
              encoder.encode(self.pinnedAt, as: Date?.self)
            }
          }
        }

        extension Note: StructuredQueries.QueryRow, StructuredQueries.Table, StructuredQueries.PrimaryKeyedTable, StructuredQueries.DraftableTable {
          nonisolated init(decoder: inout StructuredQueries.RowDecoder) throws(StructuredQueries.DecodingFailure) {
            self.id = try decoder.decode(UUID.self)
            self.isArchived = try decoder.decode(Bool.self)
            self.pinnedAt = try decoder.decode(Date?.self)
          }
        }
        """)
  }

  @Test func `a result row has columns to select it by, and no key`() {
    let expansion = Expansion(
      of: """
        extension Reports {
          @Selection("tag_use") public struct TagUse {
            public let tag: Tag
            let count: Int
          }
        }
        """)
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.text == """
        extension Reports {
          public struct TagUse {
            public let tag: Tag
            let count: Int

            public nonisolated struct TableColumns: StructuredQueries.TableColumnSet {
              public typealias QueryValue = TagUse
              public let _scope: StructuredQueries.ColumnScope
              public init(_scope: StructuredQueries.ColumnScope) { self._scope = _scope }
              #sourceLocation(file: "Test.swift", line: 3)
              public var tag: StructuredQueries.TableColumn<TagUse, Tag> { _scope.column("tag") }
              #sourceLocation()
              var count: StructuredQueries.TableColumn<TagUse, Int> { _scope.column("count") }
            }

            public nonisolated static var tableSchema: StructuredQueries.TableSchema {
              StructuredQueries.TableSchema.shared(by: Self.self) {
                StructuredQueries.TableSchema(
                  "tag_use",
                  [
                    StructuredQueries.ColumnDefinition("tag", _ColumnTypes.column0.self),
                    StructuredQueries.ColumnDefinition("count", Int.self),
                  ]
                )
              }
            }

            public nonisolated func encodeColumns(into encoder: inout StructuredQueries.RowEncoder) {
              encoder.encode(self.tag, as: _ColumnTypes.column0.self)
              encoder.encode(self.count, as: Int.self)
            }

            private enum _ColumnTypes {
              #sourceLocation(file: "Test.swift", line: 3)
              typealias column0 = StructuredQueries._ColumnType<Tag, Tag>
              #sourceLocation()
            }

            public nonisolated struct Columns: StructuredQueries.SelectionColumns {
              public typealias QueryValue = TagUse
              public let selection: [StructuredQueries.SQLFragment]
              init(tag: some StructuredQueries.QueryExpression<Tag>, count: some StructuredQueries.QueryExpression<Int>) {
                self.selection = [
                  Self.column(tag, "tag"),
                  Self.column(count, "count"),
                ]
              }
            }
          }
        }

        extension Reports.TagUse: StructuredQueries.QueryRow, StructuredQueries.Table {
          public nonisolated init(decoder: inout StructuredQueries.RowDecoder) throws(StructuredQueries.DecodingFailure) {
            self.tag = try decoder.decode(_ColumnTypes.column0.self)
            self.count = try decoder.decode(Int.self)
          }
        }
        """)
  }

  @Test(arguments: [
    ("Note", "note"), ("TaskItem", "taskItem"), ("URLRecord", "urlRecord"), ("ID", "id"),
    ("`Type`", "type"), ("Élan", "élan"), ("SQL3Value", "sql3Value"), ("_Hidden", "_Hidden"),
    ("note", "note"),
  ])
  func `a table is named after its struct`(type: String, table: String) {
    let expansion = Expansion(of: "@Table struct \(type) { var id: Int }")
    #expect(expansion.text.contains("TableSchema(\n    \"\(table)\","))
  }

  @Test func `a condition decides which properties are columns`() {
    let source = """
      @Table struct Note {
        var id: Int
        #if DEBUG
          var trace: String
        #elseif os(Linux)
          var release: String
        #endif
      }
      """
    #expect(Expansion(of: source, conditions: ["DEBUG"]).text.contains("_scope.column(\"trace\")"))
    let release = Expansion(of: source)
    #expect(release.text.contains("_scope.column(\"release\")"))
    #expect(!release.text.contains("_scope.column(\"trace\")"))
  }

  @Test func `a condition on a module is no mistake around what has no storage`() {
    let source = """
      @Table struct Note {
        var id: Int
        #if canImport(Elsewhere)
          var other: Int { id }
          func export() {}
        #endif
      }
      """
    #expect(Expansion(of: source).messages.isEmpty)
  }

  @Test func `the text of an SQL literal is handed on unchanged`() {
    #expect(
      Expansion(of: #"let f = #sql("a = \(x, as: Y.self) -- '")"#).text
        == #"let f = ("a = \(x, as: Y.self) -- '" as StructuredQueries.SQLFragment)"#)
    #expect(
      Expansion(of: #"let f = #typed("1", as: Int.self)"#).text
        == #"let f = StructuredQueries.SQLQueryExpression("1", as: Int.self)"#)
    #expect(
      Expansion(of: #"let f = #typed("1")"#).text
        == #"let f = StructuredQueries.SQLQueryExpression("1")"#)
  }
}
