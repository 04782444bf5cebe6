extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.Unwrapped == String {
  /// `LIKE`: `%` stands for any text, `_` for one character, ASCII letters match in either case.
  ///
  /// - Parameter escape: a character that takes the meaning from a following `%` or `_`.
  public func like(_ pattern: String, escape: Character? = nil) -> SQLQueryExpression<Bool> {
    like(bind(pattern), escape: escape)
  }
  /// `LIKE` with an expression.
  public func like(
    _ pattern: some QueryExpression<String>, escape: Character? = nil
  ) -> SQLQueryExpression<Bool> {
    var fragment: SQLFragment = "(\(queryFragment) LIKE \(pattern.queryFragment)"
    if let escape { fragment.append(" ESCAPE \(String(escape))") }
    fragment.append(sql: ")")
    return SQLQueryExpression(fragment: fragment)
  }
  /// `GLOB`: `*`, `?` and `[…]` as in file names; letters match in their own case.
  public func glob(_ pattern: String) -> SQLQueryExpression<Bool> {
    SQLQueryExpression(fragment: binary(" GLOB ", "\(pattern)"))
  }
  /// Whether the text is in it, ASCII letters in either case; `%` and `_` mean themselves.
  public func contains(_ text: String) -> SQLQueryExpression<Bool> {
    like("%" + escaped(text) + "%", escape: "\\")
  }
  /// Whether it begins with the text, ASCII letters in either case.
  public func hasPrefix(_ text: String) -> SQLQueryExpression<Bool> {
    like(escaped(text) + "%", escape: "\\")
  }
  /// Whether it ends with the text, ASCII letters in either case.
  public func hasSuffix(_ text: String) -> SQLQueryExpression<Bool> {
    like("%" + escaped(text), escape: "\\")
  }

  /// `lower`: ASCII letters in lower case.
  public func lower() -> SQLQueryExpression<QueryValue> { call("lower", queryFragment) }
  /// `upper`: ASCII letters in upper case.
  public func upper() -> SQLQueryExpression<QueryValue> { call("upper", queryFragment) }
  /// `trim` of spaces, or of the characters given, on both ends.
  public func trim(_ characters: String? = nil) -> SQLQueryExpression<QueryValue> {
    trimmed("trim", characters)
  }
  /// `ltrim`: as ``trim(_:)`` at the beginning.
  public func ltrim(_ characters: String? = nil) -> SQLQueryExpression<QueryValue> {
    trimmed("ltrim", characters)
  }
  /// `rtrim`: as ``trim(_:)`` at the end.
  public func rtrim(_ characters: String? = nil) -> SQLQueryExpression<QueryValue> {
    trimmed("rtrim", characters)
  }
  /// `replace`: every occurrence of a text by another.
  public func replace(_ text: String, with other: String) -> SQLQueryExpression<QueryValue> {
    call("replace", queryFragment, "\(text)", "\(other)")
  }
  /// `substr`: characters from a position counted from 1, or from the end when it is negative.
  public func substr(_ start: Int, _ length: Int? = nil) -> SQLQueryExpression<QueryValue> {
    guard let length else { return call("substr", queryFragment, "\(start)") }
    return call("substr", queryFragment, "\(start)", "\(length)")
  }
  /// `instr`: the position of a text counted from 1, 0 when it is not there.
  public func instr(_ text: String) -> SQLQueryExpression<Int> {
    call("instr", queryFragment, "\(text)")
  }
  /// `unicode`: the code point of the first character.
  public func unicode() -> SQLQueryExpression<Int?> { call("unicode", queryFragment) }
  /// `COLLATE`: the same text compared by other rules.
  public func collate(_ collation: Collation) -> SQLQueryExpression<QueryValue> {
    SQLQueryExpression(fragment: "(\(queryFragment) COLLATE \(quote: collation.name))")
  }

  private func trimmed(
    _ name: StaticString, _ characters: String?
  ) -> SQLQueryExpression<QueryValue> {
    guard let characters else { return call(name, queryFragment) }
    return call(name, queryFragment, "\(characters)")
  }

  private func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      if character == "%" || character == "_" || character == "\\" { result += "\\" }
      result.unicodeScalars.append(character)
    }
    return result
  }
}

extension QueryExpression where QueryValue: QueryRepresentable {
  /// `length`: characters of text, bytes of a blob, digits of a number.
  public func length() -> SQLQueryExpression<Int?> { call("length", queryFragment) }
  /// `octet_length`: bytes of the text or blob.
  ///
  /// Registered by BoutiqueDB; SQLite has it from 3.43.
  public func octetLength() -> SQLQueryExpression<Int?> { call("octet_length", queryFragment) }
  /// `hex`: the bytes in hexadecimal digits.
  public func hex() -> SQLQueryExpression<String> { call("hex", queryFragment) }
  /// `unhex`: the bytes of hexadecimal digits.
  ///
  /// Registered by BoutiqueDB; SQLite has it from 3.41.
  public func unhex() -> SQLQueryExpression<[UInt8]?> { call("unhex", queryFragment) }
  /// `quote`: the value as an SQL literal.
  public func quote() -> SQLQueryExpression<String> { call("quote", queryFragment) }
  /// `typeof`: the name of the storage class.
  public func typeof() -> SQLQueryExpression<String> { call("typeof", queryFragment) }
}

/// Returns `concat`: the texts put together, NULL as nothing.
///
/// Registered by BoutiqueDB.
public func concat(_ parts: any QueryExpression...) -> SQLQueryExpression<String> {
  SQLQueryExpression(fragment: "concat(\(parts.map(\.queryFragment).joined(", ")))")
}

/// Returns `uuid()`: a new random identifier for each row.
///
/// Registered by BoutiqueDB.
public func uuid() -> SQLQueryExpression<String> { call("uuid") }
