/// Finds where statements begin and end in SQL, by the same lexical rules as SQLite.
enum SQLText {
  /// Returns the first position at or after `start` that is not white space, a comment or a
  /// semicolon.
  static func skipTrivia(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    let end = bytes.count
    func byte(_ position: Int) -> UInt8 { position < end ? bytes[position] : 0 }
    while index < end {
      switch bytes[index] {
      case 0x20, 0x09, 0x0a, 0x0c, 0x0d, UInt8(ascii: ";"):
        index += 1
      case 0xef where byte(index + 1) == 0xbb && byte(index + 2) == 0xbf:
        // SQLite reads a byte order mark as a space, anywhere.
        index += 3
      case UInt8(ascii: "-") where byte(index + 1) == UInt8(ascii: "-"):
        index += 2
        while index < end, bytes[index] != 0x0a, bytes[index] != 0 { index += 1 }
      case UInt8(ascii: "/") where byte(index + 1) == UInt8(ascii: "*") && byte(index + 2) != 0:
        // A comment without an end reaches to the end of the text.
        index += 3
        while index < end, bytes[index] != 0,
          !(bytes[index - 1] == UInt8(ascii: "*") && bytes[index] == UInt8(ascii: "/"))
        {
          index += 1
        }
        if index < end, bytes[index] != 0 { index += 1 }
      default:
        return index
      }
    }
    return index
  }

  /// Returns whether the statement at `start` is a pragma, or explains one.
  ///
  /// SQLite carries out pragmas that it only explains as well.
  static func isPragma(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    var index = start
    let prefixes: [StaticString] = ["EXPLAIN", "QUERY", "PLAN"]
    for keyword in prefixes where begins(with: keyword, bytes, at: index) {
      index = skipTrivia(bytes, from: index + keyword.utf8CodeUnitCount)
    }
    return begins(with: "PRAGMA", bytes, at: index)
  }

  /// Returns whether a text is a statement about the schema.
  static func isDefinition(_ sql: String) -> Bool {
    var sql = sql
    return sql.withUTF8 { bytes in
      let start = skipTrivia(bytes, from: 0)
      let keywords: [StaticString] = ["CREATE", "DROP", "ALTER", "REINDEX", "ANALYZE"]
      return keywords.contains { begins(with: $0, bytes, at: start) }
    }
  }

  /// Returns whether the text at `start` begins with `keyword` (given in upper case).
  static func begins(
    with keyword: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at start: Int
  ) -> Bool {
    let count = keyword.utf8CodeUnitCount
    guard start + count <= bytes.count else { return false }
    for offset in 0..<count where bytes[start + offset] & 0xdf != keyword.utf8Start[offset] {
      return false
    }
    guard start + count < bytes.count else { return true }
    switch bytes[start + count] {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
      return false
    default:
      return true
    }
  }
}
