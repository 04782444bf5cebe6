/// What the text of a statement says about ending the transaction it runs in.
///
/// `INSERT OR ROLLBACK`, `ON CONFLICT ROLLBACK` and `RAISE(ROLLBACK, …)` end the whole transaction,
/// whatever savepoints are open, and SQLite has no setting against it.
package enum ConflictText {
  /// Whether the word ROLLBACK is anywhere in a text, be it in a string.
  package static func mentionsRollback(_ sql: String) -> Bool {
    let word: StaticString = "ROLLBACK"
    var sql = sql
    return sql.withUTF8 { bytes in
      guard bytes.count >= word.utf8CodeUnitCount else { return false }
      for start in 0...(bytes.count - word.utf8CodeUnitCount)
      where bytes[start] & 0xdf == word.utf8Start[0] && begins(word, bytes, at: start) {
        return true
      }
      return false
    }
  }

  /// Returns the text with `OR ABORT` for `OR ROLLBACK` after INSERT and UPDATE, every byte else where
  /// it was; nil when there is nothing to replace.
  ///
  /// A text that makes something of the schema is left alone: what it makes is meant to stay.
  package static func abortingInsteadOfRollback(_ sql: String) -> String? {
    guard mentionsRollback(sql) else { return nil }
    var bytes = Array(sql.utf8)
    var replacements: [Int] = []
    let makesSchema = bytes.withUnsafeBufferPointer { text in
      var previous: [Word] = []
      var index = 0
      while true {
        index = SQLText.skipTrivia(text, from: index)
        guard index < text.count else { return false }
        let end = endOfToken(text, from: index)
        let word = Word(text, index..<end)
        if word == .create { return true }
        if word == .rollback, previous.suffix(2) == [.verb, .or] { replacements.append(index) }
        previous = previous.suffix(1) + [word]
        index = end
      }
    }
    guard !makesSchema, !replacements.isEmpty else { return nil }
    for start in replacements {
      bytes.replaceSubrange(start..<(start + 8), with: Array("ABORT   ".utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private enum Word {
    case verb, or, rollback, create, other

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
      func isWord(_ word: StaticString) -> Bool {
        range.count == word.utf8CodeUnitCount && begins(word, bytes, at: range.lowerBound)
      }
      if isWord("OR") {
        self = .or
      } else if isWord("INSERT") || isWord("UPDATE") {
        self = .verb
      } else if isWord("ROLLBACK") {
        self = .rollback
      } else {
        self = isWord("CREATE") ? .create : .other
      }
    }
  }

  private static func begins(
    _ word: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at start: Int
  ) -> Bool {
    for offset in 0..<word.utf8CodeUnitCount
    where bytes[start + offset] & 0xdf != word.utf8Start[offset] {
      return false
    }
    return true
  }

  /// Returns where the token ends that begins at `start`: a quoted text, a word or number, or one byte.
  private static func endOfToken(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int {
    var index = start + 1
    let quote = bytes[start]
    switch quote {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
      // A doubled quote ends one text and begins the next, which comes to the same here.
      let closing = quote == UInt8(ascii: "[") ? UInt8(ascii: "]") : quote
      while index < bytes.count, bytes[index] != closing { index += 1 }
      return min(index + 1, bytes.count)
    default:
      guard isPartOfWord(quote) else { return index }
      while index < bytes.count, isPartOfWord(bytes[index]) { index += 1 }
      return index
    }
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
      true
    default: false
    }
  }
}
