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
  /// What a fragment consists of.
  ///
  /// Identifiers stay apart until the text is made, so that a statement can
  /// be recognised without making its text.
  package enum Segment: Hashable, Sendable {
    case text(String)
    case identifier(String)
    /// A column of a table or alias; of no table when `scope` is empty.
    case column(scope: String, name: String)
    /// All columns of a table, separated by commas.
    case columns(scope: String, TableSchema)
    case binding(SQLBinding)
    /// Names, separated by commas.
    case names([String])
    /// The values of a row in parentheses.
    case row([SQLBinding])
  }

  package private(set) var segments: [Segment]

  /// Creates an empty fragment.
  ///
  /// A statement whose fragment is empty does nothing.
  public init() { segments = [] }

  package init(_ segment: Segment) { segments = [segment] }

  /// Creates a fragment from text that is SQL already.
  ///
  /// - Parameter sql: must not hold anything that came from outside of the program.
  public init(raw sql: String) { segments = sql.isEmpty ? [] : [.text(sql)] }

  /// Creates a fragment that is one value.
  public init<Value: QueryRepresentable>(_ value: Value.Output, as type: Value.Type) {
    self.init(.binding(SQLBinding { () throws(BindingFailure) in try Value.bind(value) }))
  }

  /// Creates a fragment that is one quoted identifier.
  public init(identifier name: String) { self.init(.identifier(name)) }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { segments.isEmpty }

  /// Adds another fragment's text and values.
  public mutating func append(_ other: SQLFragment) {
    segments.append(contentsOf: other.segments)
  }

  /// Adds text that is SQL already.
  mutating func append(sql: StaticString) { append(text: sql.description) }

  mutating func append(text: String) {
    if !text.isEmpty { segments.append(.text(text)) }
  }

  mutating func append(_ segment: Segment) { segments.append(segment) }

  mutating func dropLast(_ count: Int) { segments.removeLast(count) }

  /// The text, with `?` for each value.
  public var sql: String {
    var text = ""
    text.reserveCapacity(segments.count * 12)
    for segment in segments { segment.write(to: &text) }
    return text
  }

  /// The values, in the order of their `?`.
  ///
  /// - Throws: ``BindingFailure`` of the first value that cannot be stored.
  public var bindings: [SQLValue] {
    get throws(BindingFailure) {
      var values: [SQLValue] = []
      for segment in segments {
        switch segment {
        case .binding(let binding): values.append(try binding.get())
        case .row(let bindings): for binding in bindings { values.append(try binding.get()) }
        default: break
        }
      }
      return values
    }
  }
}

extension SQLFragment {
  /// Calls `body` with the values, in the order of their `?`.
  package func forEachBinding(_ body: (SQLValue) throws -> Void) throws {
    for segment in segments {
      switch segment {
      case .binding(let binding): try body(try binding.get())
      case .row(let bindings): for binding in bindings { try body(try binding.get()) }
      default: break
      }
    }
  }
}

extension SQLFragment.Segment {
  func write(to text: inout String) {
    switch self {
    case .text(let sql): text += sql
    case .identifier(let name): text += quoted(identifier: name)
    case .column(let scope, let name):
      if !scope.isEmpty {
        text += quoted(identifier: scope)
        text += "."
      }
      text += quoted(identifier: name)
    case .columns(let scope, let schema):
      for (index, column) in schema.columns.enumerated() {
        if index > 0 { text += ", " }
        SQLFragment.Segment.column(scope: scope, name: column.name).write(to: &text)
      }
    case .binding: text += "?"
    case .names(let names):
      for (index, name) in names.enumerated() {
        if index > 0 { text += ", " }
        text += quoted(identifier: name)
      }
    case .row(let bindings):
      text += "("
      for index in bindings.indices { text += index > 0 ? ", ?" : "?" }
      text += ")"
    }
  }
}

extension SQLFragment: CustomDebugStringConvertible {
  /// The text with its values in place, for reading; never for execution.
  public var debugDescription: String {
    var text = ""
    for segment in segments {
      switch segment {
      case .binding(let binding): text += binding.debugDescription
      case .row(let bindings):
        text += "(\(bindings.map(\.debugDescription).joined(separator: ", ")))"
      default: segment.write(to: &text)
      }
    }
    return text
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
