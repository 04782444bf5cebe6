public import Foundation

extension Decimal: QueryBindable, QueryDecodable {
  /// TEXT.
  public static var sqlType: SQLType { .text }

  /// Returns the number's digits as text, or fails for one that is not a number.
  ///
  /// REAL would lose digits. Text does not sort as numbers do; cast it in SQL where that matters.
  public func sqlValue() throws(BindingFailure) -> SQLValue {
    guard isFinite else {
      throw BindingFailure(value: description, type: "Decimal", reason: "it is not a number")
    }
    return .text(description)
  }

  /// Creates the number from text that is one, or from INTEGER.
  public init(sqlValue: SQLValue) throws(DecodingFailure) {
    switch sqlValue {
    case .integer(let value): self = Decimal(value)
    case .text(let text):
      // `Decimal(string:)` reads a prefix; the whole text has to be a number.
      let characters = CharacterSet(charactersIn: "0123456789+-.eE")
      guard !text.isEmpty, text.unicodeScalars.allSatisfy(characters.contains),
        Double(text) != nil, let value = Decimal(string: text)
      else { throw DecodingFailure(expected: Decimal.self, found: sqlValue) }
      self = value
    default: throw DecodingFailure(expected: Decimal.self, found: sqlValue)
    }
  }
}
