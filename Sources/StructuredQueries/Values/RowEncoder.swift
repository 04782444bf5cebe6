/// A value on its way into a statement, or the reason why it cannot be stored.
///
/// Expressions are built without `try`; the statement fails when it is executed.
@usableFromInline package enum SQLBinding: Hashable, Sendable {
  case value(SQLValue)
  // Apart, so that the usual case stays small.
  indirect case failure(BindingFailure)

  @inlinable init(_ make: () throws(BindingFailure) -> SQLValue) {
    do {
      self = .value(try make())
    } catch {
      self = .failure(error)
    }
  }

  var debugDescription: String {
    switch self {
    case .value(let value): value.description
    case .failure(let failure): "<\(failure)>"
    }
  }

  package func get() throws(BindingFailure) -> SQLValue {
    switch self {
    case .value(let value): return value
    case .failure(let failure): throw failure
    }
  }
}

/// Collects the values of one row, in the order of its columns.
public struct RowEncoder {
  @usableFromInline var bindings: [SQLBinding] = []
  /// Positions of keys that SQLite is to generate.
  private(set) var missingKeys: Set<Int> = []

  @usableFromInline
  init() {}

  /// Makes room for some rows.
  @usableFromInline
  init(rows: Int, columnsOf schema: TableSchema) {
    bindings.reserveCapacity(rows * schema.writableNames.count)
  }

  /// Adds a value.
  @inlinable public mutating func encode<Value: QueryRow>(
    _ value: Value.Output, as type: Value.Type
  ) {
    Value.encode(value, into: &self)
  }

  /// Adds a primary key; nil stands for one to be made: a new UUID, else whatever SQLite generates.
  public mutating func encodeKey<Value: QueryRepresentable>(
    _ value: Value.Output?, as type: Value.Type
  ) {
    if let value {
      Value.encode(value, into: &self)
    } else if let maker = type as? any KeyMaking.Type {
      append(maker.makeKey())
    } else {
      missingKeys.insert(bindings.count)
      append(.value(.null))
    }
  }

  @inlinable mutating func append(_ binding: SQLBinding) { bindings.append(binding) }
}

/// A key type whose values programs make themselves.
protocol KeyMaking {
  static func makeKey() -> SQLBinding
}
