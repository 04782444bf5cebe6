import BoutiqueDB

/// Values that are given without a type.
enum ModelArgument {
  /// Returns what is stored for a value.
  ///
  /// - Throws: ``Blackbird/Value/Error/cannotConvertToValue``, or ``ColumnValueFailure``.
  static func stored(_ value: (any Sendable)?) throws -> SQLValue {
    switch value {
    case nil: return .null
    // The usual keys; what follows looks types up.
    case let value as Int: return .integer(Int64(value))
    case let value as String: return .text(value)
    case let value as any BlackbirdColumnWrappable: return try value._stored()
    default:
      let value = try Blackbird.Value.fromAny(value)
      if case .double(let number) = value, number.isNaN {
        throw ColumnValueFailure(number, "SQLite has no NaN")
      }
      return value.sqlValue
    }
  }

  /// Returns what is stored for named values.
  static func stored(_ values: [String: (any Sendable)?]) throws -> [String: SQLValue] {
    try values.mapValues { try stored($0) }
  }
}

extension ModelTable {
  /// Returns what is stored for a value of a column.
  ///
  /// - Throws: ``BlackbirdModelError/argumentInvalid(type:description:)`` where it is not of the column's type.
  func stored(_ value: (any Sendable)?, for column: Column) throws -> SQLValue {
    let stored: SQLValue
    do {
      stored = try ModelArgument.stored(value)
    } catch let failure as ColumnValueFailure {
      throw BlackbirdModelError.valueNotStorable(
        BlackbirdModelError.Unstorable(table: name, column: column.name, failure: failure))
    }
    guard column.accepts(stored) else {
      throw BlackbirdModelError.argumentInvalid(
        type: typeName, description: "the column \(column.name) cannot have the value \(stored)")
    }
    return stored
  }

  /// Returns what is stored for the values of a primary key.
  ///
  /// - Throws: ``BlackbirdModelError/argumentInvalid(type:description:)`` where their number is not the key's.
  func key(_ values: [any Sendable]) throws -> [SQLValue] {
    guard values.count == primaryKey.count else {
      throw BlackbirdModelError.argumentInvalid(
        type: typeName,
        description:
          "its primary key has the columns (\(primaryKeyNames.joined(separator: ", "))), "
          + "and \(values.count == 1 ? "1 value was" : "\(values.count) values were") given")
    }
    return try values.map { try ModelArgument.stored($0) }
  }

  /// Returns what is stored for the values of a primary key by column name.
  func key(_ values: [String: any Sendable]) throws -> [SQLValue] {
    guard Set(values.keys) == Set(primaryKeyNames) else {
      throw BlackbirdModelError.argumentInvalid(
        type: typeName,
        description:
          "its primary key has the columns (\(primaryKeyNames.joined(separator: ", "))), "
          + "not (\(values.keys.sorted().joined(separator: ", ")))")
    }
    return try key(primaryKeyNames.compactMap { values[$0] })
  }

  /// Returns the key for a value of the column `id`.
  func key(id: any Sendable) throws -> [SQLValue] {
    guard isKeyedByID else {
      throw BlackbirdModelError.argumentInvalid(
        type: typeName, description: "its primary key is not the column id alone")
    }
    return [try ModelArgument.stored(id)]
  }

  /// Returns a statement with the table's name in the place of `$T`.
  func expanded(_ sql: String) -> String {
    guard sql.contains("$T") else { return sql }
    var text = ""
    var rest = sql[...]
    while let place = rest.firstRange(of: "$T") {
      text += rest[..<place.lowerBound]
      rest = rest[place.upperBound...]
      // `$Title` is a parameter.
      let goesOn = rest.first.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
      text += goesOn ? "$T" : SQLName.quoted(name)
    }
    return text + rest
  }
}
