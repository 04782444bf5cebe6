import BoutiqueDB

/// Makes a property of a model a column of its table, and knows whether its value was changed since.
///
/// A copy of an instance has columns of its own: changing it leaves the original as it is.
@propertyWrapper
public struct BlackbirdColumn<Value: BlackbirdColumnWrappable>: Sendable {
  @usableFromInline var value: Value
  /// Where the value is stored already; shared with copies until one of them gets another value.
  @usableFromInline var origin: ColumnOrigin

  /// Creates a column whose value is in no database.
  @inlinable public init(wrappedValue: Value) {
    value = wrappedValue
    origin = ColumnOrigin()
  }

  @inlinable init(_ value: Value, origin: ColumnOrigin) {
    self.value = value
    self.origin = origin
  }

  /// The value; every assignment counts as a change.
  @inlinable public var wrappedValue: Value {
    get { value }
    set {
      value = newValue
      origin = ColumnOrigin()
    }
    _modify {
      origin = ColumnOrigin()
      yield &value
    }
  }

  /// The column itself: what key paths lead to.
  public var projectedValue: BlackbirdColumn<Value> { self }

  /// Whether the value was set since it was read from the database or written to it.
  public func hasChanged(in database: Blackbird.Database) -> Bool {
    !origin.isSaved(in: database.id)
  }
}

extension BlackbirdColumn: Hashable {
  /// Columns are equal when their values are.
  @inlinable public static func == (a: Self, b: Self) -> Bool { a.value == b.value }
  /// Feeds the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension BlackbirdColumn: Codable {
  /// Creates a column from a value as it is coded without the wrapper, or from a row.
  public init(from decoder: any Decoder) throws {
    self = try Self.decoded(from: decoder)
  }

  // Opening the existential here makes the test for the row decoder a comparison of two pointers; a cast
  // would look the type up for every column of every row.
  private static func decoded<D: Decoder>(from decoder: D) throws -> Self {
    if D.self == RowDecoder.self {
      // Sound: the types are the same.
      let row = withUnsafePointer(to: decoder) { UnsafeRawPointer($0).load(as: RowDecoder.self) }
      return Self(try row.value(Value.self), origin: row.origin)
    }
    if let defaults = decoder as? BlackbirdDefaultsDecoder {
      guard let value = Value._placeholder else { throw defaults.hasNoDefault(Value.self) }
      let column = Self(wrappedValue: value)
      defaults.made(column.origin)
      return column
    }
    let container = try decoder.singleValueContainer()
    if Value._isOptional, container.decodeNil(), let null = Value._restored(.null) {
      return Self(wrappedValue: null)
    }
    return Self(wrappedValue: try container.decode(Value.self))
  }

  /// Codes the value without the wrapper, or gives it to a row.
  public func encode(to encoder: any Encoder) throws {
    try encode(opened: encoder)
  }

  private func encode<E: Encoder>(opened encoder: E) throws {
    if E.self == ColumnCollector.self {
      // Sound: the types are the same.
      let collector = withUnsafePointer(to: encoder) {
        UnsafeRawPointer($0).load(as: ColumnCollector.self)
      }
      try collector.collect(value, origin)
      return
    }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// A column of any type.
protocol AnyBlackbirdColumn {
  static var valueType: any BlackbirdColumnWrappable.Type { get }
  var origin: ColumnOrigin { get }
  var hashableValue: AnyHashable { get }
  func storedValue() throws -> SQLValue
}

extension BlackbirdColumn: AnyBlackbirdColumn {
  static var valueType: any BlackbirdColumnWrappable.Type { Value.self }
  var hashableValue: AnyHashable { AnyHashable(value) }
  func storedValue() throws -> SQLValue { try value._stored() }
}
