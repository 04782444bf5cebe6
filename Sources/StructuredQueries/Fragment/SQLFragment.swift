/// A piece of SQL with the values that belong to it.
///
/// The text of a fragment comes from literals in source code and from identifiers, which are quoted.
/// Values never become text: each is a `?` and is bound.
///
/// ```swift
/// let fragment: SQLFragment = "SELECT * FROM \(Note.self) WHERE \(Note.columns.title) = \(title)"
/// fragment.sql       // SELECT * FROM "note" WHERE "note"."title" = ?
/// ```
public struct SQLFragment: Hashable, Sendable {
  /// The text of a whole statement of a common shape; `text` and `places` are empty then.
  ///
  /// It is shared, so that such a statement neither makes its text nor is recognised by it.
  package private(set) var template: SQLTemplate?
  private var text: String
  /// The values, in the order of their `?`.
  package private(set) var values: [SQLBinding]
  /// Where in the text each value's `?` is, in bytes of UTF-8.
  private var places: [Int]

  /// Creates an empty fragment.
  ///
  /// A statement whose fragment is empty does nothing.
  public init() {
    text = ""
    values = []
    places = []
  }

  init(_ template: SQLTemplate, _ values: [SQLBinding]) {
    self.template = template
    self.values = values
    text = ""
    places = []
  }

  init(_ binding: SQLBinding) {
    text = "?"
    values = [binding]
    places = [0]
  }

  /// Creates a fragment that is a column of a table or alias; of no table when `scope` is empty.
  init(column name: String, of scope: String) {
    self.init()
    append(column: name, of: scope)
  }

  /// Creates a fragment that is all columns of a table, separated by commas.
  init(columnsOf scope: String, _ schema: TableSchema) {
    self.init()
    text = scope == schema.name ? schema.columnList : schema.columnList(of: scope)
  }

  /// Creates a fragment from text that is SQL already.
  ///
  /// - Parameter sql: must not hold anything that came from outside of the program.
  public init(raw sql: String) {
    text = sql
    values = []
    places = []
  }

  /// Creates a fragment that is one value.
  public init<Value: QueryRepresentable>(_ value: Value.Output, as type: Value.Type) {
    self.init(SQLBinding { () throws(BindingFailure) in try Value.bind(value) })
  }

  /// Creates a fragment that is one quoted identifier.
  public init(identifier name: String) { self.init(raw: quoted(identifier: name)) }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { template == nil && text.isEmpty }

  /// Adds another fragment's text and values.
  public mutating func append(_ other: SQLFragment) {
    if isEmpty {
      self = other
      return
    }
    makeTextOwn()
    let start = text.utf8.count
    text += other.sql
    guard !other.values.isEmpty else { return }
    values += other.values
    for place in other.template?.places ?? other.places { places.append(start + place) }
  }

  /// Adds text that is SQL already.
  mutating func append(sql: StaticString) {
    makeTextOwn()
    // A literal of one scalar has no pointer.
    if sql.hasPointerRepresentation {
      sql.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
    } else {
      text += sql.description
    }
  }

  mutating func append(text other: String) {
    makeTextOwn()
    text += other
  }

  mutating func append(identifier name: String) {
    makeTextOwn()
    text += quoted(identifier: name)
  }

  mutating func append(column name: String, of scope: String) {
    makeTextOwn()
    if !scope.isEmpty {
      text += quoted(identifier: scope)
      text += "."
    }
    text += quoted(identifier: name)
  }

  mutating func append(_ binding: SQLBinding) {
    makeTextOwn()
    places.append(text.utf8.count)
    values.append(binding)
    text += "?"
  }

  /// Adds a list of values in parentheses.
  mutating func append(row bindings: some Collection<SQLBinding>) {
    append(text: "(")
    var isFirst = true
    for binding in bindings {
      if !isFirst { text += ", " }
      isFirst = false
      append(binding)
    }
    text += ")"
  }

  private mutating func makeTextOwn() {
    guard let template else { return }
    text = template.text
    places = template.places
    self.template = nil
  }

  /// The text, with `?` for each value.
  public var sql: String { template?.text ?? text }

  /// The values, in the order of their `?`.
  ///
  /// - Throws: ``BindingFailure`` of the first value that cannot be stored.
  public var bindings: [SQLValue] {
    get throws(BindingFailure) {
      var result: [SQLValue] = []
      result.reserveCapacity(values.count)
      for value in values { result.append(try value.get()) }
      return result
    }
  }

  /// Whether it is one value, and that NULL.
  var isNullValue: Bool { values.count == 1 && sql == "?" && values[0] == .value(.null) }

  /// The text and the places of its values, to be shared by all statements of this shape.
  var asTemplate: SQLTemplate { template ?? SQLTemplate(text, places: places) }
}

extension SQLFragment {
  /// Whether both have the same text, byte by byte, and the same values.
  public static func == (a: SQLFragment, b: SQLFragment) -> Bool {
    if let template = a.template, template === b.template { return a.values == b.values }
    return a.values == b.values && SQLValue.text(a.sql) == SQLValue.text(b.sql)
  }

  /// Feeds text and values.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(SQLValue.text(sql))
    hasher.combine(values)
  }
}

extension SQLFragment {
  /// Calls `body` with the values, in the order of their `?`.
  package func forEachBinding(_ body: (SQLValue) throws -> Void) throws {
    for value in values { try body(try value.get()) }
  }
}

extension SQLFragment: CustomDebugStringConvertible {
  /// The text with its values in place, for reading; never for execution.
  public var debugDescription: String {
    let bytes = Array(sql.utf8)
    var result = ""
    var start = 0
    for (value, place) in zip(values, template?.places ?? places) {
      result += String(decoding: bytes[start..<place], as: UTF8.self) + value.debugDescription
      start = place + 1
    }
    return result + String(decoding: bytes[start...], as: UTF8.self)
  }
}

extension Sequence<SQLFragment> {
  func joined(_ separator: StaticString) -> SQLFragment {
    var result = SQLFragment()
    for (index, fragment) in enumerated() {
      if index > 0 { result.append(sql: separator) }
      result.append(fragment)
    }
    return result
  }

  /// The fragments as one predicate: all of them must hold.
  var conjunction: SQLFragment { connected(" AND ") }

  func connected(_ connective: StaticString) -> SQLFragment {
    let parts = Array(self)
    return parts.count == 1 ? parts[0] : "(\(parts.joined(connective)))"
  }
}
