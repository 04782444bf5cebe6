/// What the generator knows of a table it has made up.
struct TableModel: Sendable {
  enum Shape: Sendable {
    /// With an INTEGER PRIMARY KEY.
    case integerKey
    /// With row ids that no column shows.
    case hiddenRowID
    /// WITHOUT ROWID.
    case keyed
    /// FTS5 with its own content.
    case fullText
    /// An R-Tree.
    case spatial
  }

  struct Column: Sendable {
    enum Kind: Sendable {
      case integer
      case text
      case real
      case blob
    }

    var name: String
    var kind: Kind
    var isKey = false
    var isGenerated = false
    var isRequired = false
    var isUnique = false
    /// The table whose key it names.
    var parent: String?

    var quoted: String { name.quotedName }
  }

  var name: String
  var shape: Shape
  var columns: [Column]

  var quoted: String { name.quotedName }
  var keys: [Column] { columns.filter(\.isKey) }
  /// The columns that a statement can set.
  var settable: [Column] { columns.filter { !$0.isGenerated } }
  /// The columns that a statement can set and that are no key.
  var plain: [Column] { settable.filter { !$0.isKey } }
  /// The columns that hold numbers.
  var numbers: [Column] { columns.filter { $0.kind == .integer || $0.kind == .real } }

  /// An expression that orders the rows for good.
  var order: String {
    let others = columns.map(\.quoted)
    switch shape {
    case .integerKey, .keyed: return keys.map(\.quoted).joined(separator: ", ")
    case .hiddenRowID: return others.joined(separator: ", ")
    case .fullText, .spatial: return "rowid"
    }
  }
}

extension String {
  /// The text as an SQL identifier.
  var quotedName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

  /// The text as an SQL string.
  var quotedText: String { "'" + replacing("'", with: "''") + "'" }
}

/// Names that programs tend to trip over.
enum OddNames {
  static let tables = [
    "plain", "we\"ird", "a.b", "with space", "naïve ünï", "select", "order", "t'q", "[x]",
    "back`tick", "🦊 fox", TableCopy.lookalike, "MixedCase", "x--y", "semi;colon", "100%", "日本",
    "cdc", "new", "old", "turso_mine", "1st", "a_b", "table", "trigger",
  ]
  static let columns = [
    "a", "b", "c", "d e", "f\"g", "select", "ü", "x.y", "from", "value", "group", "oid", "it's",
    "K", "名", "index",
  ]
  static let words = [
    "alpha", "beta", "gamma", "it's", "naïve", "", "日本語", "🦊", "a\"b", "x|y", "line\nbreak", "ZZ",
    "zz", "100%", "null",
  ]
}
