// The macros are implemented in StructuredQueriesMacros, which StructuredQueriesPlugin runs. Each adds
// members and an extension: only a member sees the names of the declarations around the struct, and
// only from an extension does an initialiser leave the memberwise one in place.

/// The type of a column, which the compiler refuses at the property when it cannot be one, or when it
/// represents other values than those of the property.
///
/// Expansions of `@Table` use it; it is of no use elsewhere.
public typealias _ColumnType<Value: QueryRow, Property> = Value where Value.Output == Property

/// Makes a struct a table: its stored properties are the columns.
///
/// ```swift
/// @Table struct Note: Sendable {
///   @Column(primaryKey: true) let id: UUID
///   var title: String
///   var isArchived: Bool = false
///   @Column("pinned_at") var pinnedAt: Date?
/// }
/// ```
///
/// The primary key is made up of the properties marked `@Column(primaryKey: true)`; where none is,
/// it is the property `id`. A table whose key is one column has a `Draft`, a copy of the struct in
/// which the key may be left to the database.
///
/// - Parameter name: The table's name. Without it, it is the struct's own name with a small first
///   letter: `Note` is the table `note`.
@attached(
  member,
  names: named(TableColumns),
  named(tableSchema),
  named(encodeColumns),
  named(_ColumnTypes),
  named(PrimaryKey),
  named(encodeKey),
  named(Draft)
)
@attached(
  extension,
  conformances: QueryRow, Table,
  PrimaryKeyedTable,
  DraftableTable,
  names: named(init(decoder:))
)
public macro Table(_ name: String? = nil) =
  #externalMacro(module: "StructuredQueriesPlugin", type: "TableMacro")

/// Makes a struct a table, as ``Table(_:)`` does, and says what the table shall be made like.
///
/// ```swift
/// @BoutiqueTable(strict: true, withoutRowID: true)
/// struct Setting: Sendable {
///   @Column(primaryKey: true) var key: String
///   var value: String
///   @Column(generated: .stored, as: "length(value)") let size: Int
/// }
/// try Setting.createTable().execute(connection)
/// ```
///
/// - Parameters:
///   - name: The table's name; without it, the struct's own name with a small first letter.
///   - strict: Whether SQLite refuses values of another storage class than the column's.
///   - withoutRowID: Whether the rows are kept in the order of the primary key.
///   - checks: Conditions in SQL that every row must meet.
///   - unique: Groups of columns whose values together occur only once.
///   - foreignKeys: References of several columns to another table.
///   - indexes: Indexes that `createIndexes()` makes.
@attached(
  member,
  names: named(TableColumns),
  named(tableSchema),
  named(encodeColumns),
  named(_ColumnTypes),
  named(PrimaryKey),
  named(encodeKey),
  named(Draft)
)
@attached(
  extension,
  conformances: QueryRow, Table,
  PrimaryKeyedTable,
  DraftableTable,
  names: named(init(decoder:))
)
public macro BoutiqueTable(
  _ name: String? = nil, strict: Bool = false, withoutRowID: Bool = false, checks: [String] = [],
  unique: [[String]] = [], foreignKeys: [TableForeignKey] = [], indexes: [TableIndex] = []
) = #externalMacro(module: "StructuredQueriesPlugin", type: "BoutiqueTableMacro")

/// Makes a struct the row of a result, a group of columns, or the row of a view.
///
/// ```swift
/// @Selection struct TagUse: Sendable {
///   let tag: String
///   let count: Int
/// }
/// ```
///
/// A statement selects it as `TagUse.Columns(tag: …, count: …)`. It has neither key nor draft. On a
/// struct that is a table as well, the macro adds `Columns` only.
///
/// - Parameter name: The name of the view or common table that has such rows.
@attached(
  member,
  names: named(TableColumns),
  named(tableSchema),
  named(encodeColumns),
  named(_ColumnTypes),
  named(Columns)
)
@attached(extension, conformances: QueryRow, Table, names: named(init(decoder:)))
public macro Selection(_ name: String? = nil) =
  #externalMacro(module: "StructuredQueriesPlugin", type: "SelectionMacro")

/// Says more about the column of a property than its declaration does.
///
/// - Parameters:
///   - name: The column's name, where it is not the property's.
///   - primaryKey: Whether the column belongs to the primary key. Several such columns make up a
///     composite key, in the order of their declaration.
///   - unique: Whether a value occurs only once.
///   - indexed: Whether `createIndexes()` makes an index for the column.
///   - check: A condition in SQL that the value must meet.
///   - default: The value of the column in rows that are inserted without one. Where the property
///     has a literal as its initial value, it is this one.
///   - collate: How texts are compared.
///   - references: The row of another table that the value is the key of.
@attached(peer)
public macro Column(
  _ name: String? = nil, primaryKey: Bool = false, unique: Bool = false, indexed: Bool = false,
  check: String? = nil, default: ColumnDefault? = nil, collate: Collation? = nil,
  references: ForeignKey? = nil
) = #externalMacro(module: "StructuredQueriesPlugin", type: "ColumnMacro")

/// Keeps a property in another form than its type's usual one.
///
/// ```swift
/// @Column(as: Date.UnixTimeRepresentation.self) var createdAt: Date
/// @Column(as: [String].JSONRepresentation.self) var tags: [String]
/// ```
///
/// - Parameters:
///   - name: The column's name, where it is not the property's.
///   - representation: The form that the values are kept in.
///   - primaryKey: Whether the column belongs to the primary key.
///   - unique: Whether a value occurs only once.
///   - indexed: Whether `createIndexes()` makes an index for the column.
///   - check: A condition in SQL that the value must meet.
///   - default: The value of the column in rows that are inserted without one.
///   - collate: How texts are compared.
///   - references: The row of another table that the value is the key of.
@attached(peer)
public macro Column<R: QueryRow>(
  _ name: String? = nil, as representation: R.Type, primaryKey: Bool = false, unique: Bool = false,
  indexed: Bool = false, check: String? = nil, default: ColumnDefault? = nil,
  collate: Collation? = nil, references: ForeignKey? = nil
) = #externalMacro(module: "StructuredQueriesPlugin", type: "ColumnMacro")

/// Makes a property a column that the database computes: it is read and never written.
///
/// ```swift
/// @Column(generated: .stored, as: "length(value)") let size: Int
/// ```
///
/// - Parameters:
///   - name: The column's name, where it is not the property's.
///   - generated: Whether the value is kept in the file or computed when it is read.
///   - expression: The value in SQL.
///   - unique: Whether a value occurs only once.
///   - indexed: Whether `createIndexes()` makes an index for the column.
///   - check: A condition in SQL that the value must meet.
@attached(peer)
public macro Column(
  _ name: String? = nil, generated: GeneratedStorage, as expression: String, unique: Bool = false,
  indexed: Bool = false, check: String? = nil
) = #externalMacro(module: "StructuredQueriesPlugin", type: "ColumnMacro")

/// Keeps a property that is a struct of its own in columns of this table.
///
/// The struct is a `@Selection` or a `@Table`; its columns stand where the property is declared.
@attached(peer)
public macro Columns() = #externalMacro(module: "StructuredQueriesPlugin", type: "ColumnsMacro")

/// Leaves a stored property out of the table.
///
/// It needs an initial value, which it has in every value that is read from the database.
@attached(peer)
public macro Ephemeral() =
  #externalMacro(module: "StructuredQueriesPlugin", type: "EphemeralMacro")

/// A piece of a statement in SQL, whose interpolated values are bound and never become its text.
///
/// ```swift
/// try conn.execute(#sql("UPDATE note SET title = upper(title) WHERE id = \(id)"))
/// ```
@freestanding(expression)
public macro sql(_ sql: SQLFragment) -> SQLFragment =
  #externalMacro(module: "StructuredQueriesPlugin", type: "SQLFragmentMacro")

/// An expression, or a whole statement, in SQL, whose value is of a certain type.
///
/// ```swift
/// let titles = #sql("SELECT title FROM note WHERE id > \(start)", as: String.self)
/// let notes = Note.where { #sql("\($0.title) LIKE \(pattern) ESCAPE '\\'", as: Bool.self) }
/// ```
@freestanding(expression)
public macro sql<V: QueryRow>(_ sql: SQLFragment, as type: V.Type = V.self)
  -> SQLQueryExpression<V> =
  #externalMacro(module: "StructuredQueriesPlugin", type: "SQLExpressionMacro")
