/// What the declaration of a table or of a result row says, as plain values without syntax nodes.
struct TableModel {
  /// What the struct was declared to be.
  enum Kind {
    /// A table of the database.
    case table
    /// The row of a result, a group of columns or a view: it has neither key nor draft.
    case selection
    /// A table that is a result row too: what is missing beside the table's own expansion.
    case columnsOfTable
  }

  /// What the struct was declared to be.
  var kind: Kind
  /// The struct's name as it is written, in back-ticks where it needs them.
  var typeName: String
  /// The table's name, as a Swift string literal.
  var tableName: String
  /// The access of the struct.
  var access: AccessLevel
  /// Whether the struct lies within another declaration.
  var isNested: Bool
  /// Whether the struct is, or may be, generic, so that it cannot have stored static properties.
  var isGeneric: Bool
  /// The columns in the order of their declaration.
  var columns: [ColumnModel] = []
  /// The arguments of `TableOptions`, such as `strict: true`.
  var options: [String] = []

  /// The columns that make up the primary key.
  var key: [ColumnModel] { columns.filter(\.isPrimaryKey) }
  /// The columns that a program writes.
  var written: [ColumnModel] { columns.filter { !$0.isGenerated } }
}

/// One column, or one group of columns, of a table.
struct ColumnModel {
  /// The property's name as it is written, in back-ticks where it needs them.
  var property: String
  /// The column's name, as a Swift string literal.
  var name: String
  /// The property's own type.
  var type: TypeModel
  /// The type that stands for the value in a statement: the representation, else the property's.
  var value: TypeModel
  /// Where the property stands, if its type is not one of those that are known to be columns.
  ///
  /// Only the compiler can tell whether such a type can be one, and it shall say so there.
  var place: SourcePlace?
  /// Who sees the column.
  var access: AccessLevel
  /// Whether the database computes the value.
  var isGenerated = false
  /// Whether the property holds a group of columns.
  var isGroup = false
  /// Whether the column belongs to the primary key.
  var isPrimaryKey = false
  /// The labelled arguments of `ColumnDefinition` after name and type, in the order it wants them.
  var arguments: [String] = []
  /// The property's initial value, with which a draft may leave it out.
  var initialValue: String?
  /// Whether the initial value may name what fewer see than the column.
  var initialValueIsHidden = false
}

/// A line of the source.
struct SourcePlace {
  /// The file's path, as a Swift string literal.
  var file: String
  /// The line's number.
  var line: String
}

/// A type as it is written in the source.
struct TypeModel: Equatable {
  /// The type without its outermost question mark.
  var wrapped: String
  /// Whether the type is optional.
  var isOptional: Bool
  /// Whether `wrapped` is a name, or names with dots between, so that a suffix may follow it.
  var isSimple: Bool

  /// The type as it is written in a declaration.
  var text: String { isOptional ? optionalText : wrapped }
  /// The type's optional as it is written in a declaration; an optional stays what it is.
  var optionalText: String { isSimple ? "\(wrapped)?" : "Swift.Optional<\(wrapped)>" }
  /// The type as a value.
  var metatype: String { "\(text).self" }
  /// The type without its question mark, as a value.
  var wrappedMetatype: String { "\(wrapped).self" }
}

/// Who may see a declaration, from few to many.
enum AccessLevel: Int, Comparable {
  case `private`, `fileprivate`, `internal`, package, `public`

  /// The modifier with a space behind it, or nothing where it goes without saying.
  var modifier: String {
    switch self {
    case .private: "private "
    case .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }

  /// Whether fewer see the one than the other.
  static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
