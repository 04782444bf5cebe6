// Texts by their bytes.
//
// Swift compares texts as Unicode does, so that "é" as one character and as two are equal, and works on
// characters, so that a quotation mark with a combining mark behind it is not the character `"`. Files, SQLite
// and whoever parses SQL go by bytes; so must whoever names something for them.

extension String {
  /// Whether another text has the same bytes.
  func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Feeds the bytes into a hasher.
  func hashBytes(into hasher: inout Hasher) {
    let isFed: Void? = utf8.withContiguousStorageIfAvailable { bytes in
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    if isFed == nil { for byte in utf8 { hasher.combine(byte) } }
    hasher.combine(UInt8(0xff))
  }

  /// The text as a name in SQL.
  var asSQLName: String {
    var bytes = [UInt8(ascii: "\"")]
    for byte in utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether it can be the name of one file or directory.
  var isPlainName: Bool {
    !utf8.isEmpty && !utf8.contains(UInt8(ascii: "/")) && !utf8.contains(0)
      && !hasBytes(of: ".") && !hasBytes(of: "..")
  }
}

/// A text as a key of dictionaries, by its bytes.
struct ByteText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: ByteText, b: ByteText) -> Bool { a.text.hasBytes(of: b.text) }

  func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
