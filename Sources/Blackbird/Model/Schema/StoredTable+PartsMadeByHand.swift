extension StoredTable {
  /// The parts of the table's definition that no model has, so that one that makes the table anew would lose them.
  func partsMadeByHand(besides table: ModelTable) -> [String] {
    let words = SQLWords.unquoted(in: sql)
    let parts = ["AUTOINCREMENT", "CHECK", "COLLATE", "REFERENCES"].filter(words.contains)
    let uniques = indexes.filter { index in
      index.isConstraint && index.isUnique && Set(index.columns) != Set(primaryKey)
        && !table.indexes.contains { $0.isUnique && $0.columns == index.columns }
    }
    return parts + uniques.map { "UNIQUE (\($0.columns.joined(separator: ", ")))" }
  }
}

private enum SQLWords {
  /// The words of a statement that stand neither in quotes nor in comments, in upper case.
  static func unquoted(in sql: String) -> Set<String> {
    let bytes = Array(sql.utf8)
    var words: Set<String> = []
    var index = 0
    func at(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }
    func skip(past end: UInt8) {
      index += 1
      // A doubled quote begins another text at once, which is skipped as well.
      while index < bytes.count, bytes[index] != end { index += 1 }
      index += 1
    }
    func isWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
        true
      default: false
      }
    }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): skip(past: bytes[index])
      case UInt8(ascii: "["): skip(past: UInt8(ascii: "]"))
      case UInt8(ascii: "-") where at(index + 1) == UInt8(ascii: "-"):
        skip(past: UInt8(ascii: "\n"))
      case UInt8(ascii: "/") where at(index + 1) == UInt8(ascii: "*"):
        index += 3
        while index < bytes.count,
          !(bytes[index] == UInt8(ascii: "/") && bytes[index - 1] == UInt8(ascii: "*"))
        {
          index += 1
        }
        index += 1
      case let byte where isWord(byte):
        let start = index
        while index < bytes.count, isWord(bytes[index]) { index += 1 }
        words.insert(String(decoding: bytes[start..<index], as: UTF8.self).uppercased())
      default: index += 1
      }
    }
    return words
  }
}
