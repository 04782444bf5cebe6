import BoutiqueDB

/// The condition that a column has a value; `nil` means NULL.
public func == <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value?
) -> BlackbirdModelColumnExpression<T> {
  equality(column, value, isNegated: false)
}

/// The condition that a column has another value than this; `nil` means NULL.
public func != <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value?
) -> BlackbirdModelColumnExpression<T> {
  equality(column, value, isNegated: true)
}

/// The condition that a column is below a value.
public func < <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdModelColumnExpression<T> { comparison(column, "<", value) }

/// The condition that a column is not above a value.
public func <= <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdModelColumnExpression<T> { comparison(column, "<=", value) }

/// The condition that a column is above a value.
public func > <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdModelColumnExpression<T> { comparison(column, ">", value) }

/// The condition that a column is not below a value.
public func >= <T: BlackbirdModel, Value>(
  column: KeyPath<T, BlackbirdColumn<Value>>, value: Value
) -> BlackbirdModelColumnExpression<T> { comparison(column, ">=", value) }

/// Both conditions.
public func && <T: BlackbirdModel>(
  a: BlackbirdModelColumnExpression<T>, b: BlackbirdModelColumnExpression<T>
) -> BlackbirdModelColumnExpression<T> { .joined(a, "AND", b) }

/// One condition or the other.
public func || <T: BlackbirdModel>(
  a: BlackbirdModelColumnExpression<T>, b: BlackbirdModelColumnExpression<T>
) -> BlackbirdModelColumnExpression<T> { .joined(a, "OR", b) }

/// The rows that a condition does not have.
public prefix func ! <T: BlackbirdModel>(
  a: BlackbirdModelColumnExpression<T>
) -> BlackbirdModelColumnExpression<T> { .not(a) }

private func equality<T: BlackbirdModel, Value>(
  _ column: KeyPath<T, BlackbirdColumn<Value>>, _ value: Value?, isNegated: Bool
) -> BlackbirdModelColumnExpression<T> {
  BlackbirdModelColumnExpression(isRepeatable: true) {
    let name = try T.sqlName(of: column)
    let stored = try value?._stored() ?? .null
    if stored.isNull { return ("\(name) IS \(isNegated ? "NOT " : "")NULL", []) }
    // Where NULL can stand, so that it is different from the value, and not unknown.
    let sign = Value._isOptional ? (isNegated ? "IS NOT" : "IS") : (isNegated ? "!=" : "=")
    return ("\(name) \(sign) ?", [stored])
  }
}

private func comparison<T: BlackbirdModel, Value>(
  _ column: KeyPath<T, BlackbirdColumn<Value>>, _ sign: String, _ value: Value
) -> BlackbirdModelColumnExpression<T> {
  BlackbirdModelColumnExpression(isRepeatable: true) {
    ("\(try T.sqlName(of: column)) \(sign) ?", [try value._stored()])
  }
}
