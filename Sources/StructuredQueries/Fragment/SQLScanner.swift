/// Recognises the pieces of SQL that fragments are made of, from the front.
///
/// It knows the one form in which this library writes them; what is written otherwise is not recognised.
struct SQLScanner {
  private var rest: Substring.UTF8View

  /// Starts at the beginning of a text.
  init(_ text: String) { rest = Substring(text).utf8 }

  /// Whether everything has been taken.
  var isAtEnd: Bool { rest.isEmpty }

  /// Takes just this text, if it is next.
  mutating func take(_ word: StaticString) -> Bool {
    let word = String(describing: word).utf8
    guard rest.starts(with: word) else { return false }
    rest = rest.dropFirst(word.count)
    return true
  }

  /// Takes an identifier in double quotes, if one is next.
  mutating func takeIdentifier() -> String? {
    let quote = UInt8(ascii: "\"")
    guard rest.first == quote else { return nil }
    var bytes: [UInt8] = []
    var index = rest.index(after: rest.startIndex)
    while index != rest.endIndex {
      let byte = rest[index]
      index = rest.index(after: index)
      if byte == quote {
        guard index != rest.endIndex, rest[index] == quote else {
          rest = rest[index...]
          return String(decoding: bytes, as: UTF8.self)
        }
        index = rest.index(after: index)
      }
      bytes.append(byte)
    }
    return nil
  }

  /// Takes a column of the table or alias, if one is next.
  mutating func takeColumn(of scope: String) -> String? {
    let start = rest
    if let table = takeIdentifier(), table.utf8.elementsEqual(scope.utf8), take("."),
      let column = takeIdentifier()
    {
      return column
    }
    rest = start
    return nil
  }
}
