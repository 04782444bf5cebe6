import CSodium
import Foundation

/// A file of a ``DiskStorageEngine``: what lies under one key.
///
/// ```
/// boutique 1 SEQUENCE CREATED UPDATED LENGTH⏎    numbers; times in seconds since 1970; bytes of the key
/// KEY⏎
/// DATA
/// ```
///
/// The key is in the file, since its name may not tell it.
struct DiskItemFile {
  /// The place in the order of all.
  var sequence: Int64
  var created: Date
  var updated: Date
  var key: CacheKey

  private static let mark = "boutique 1"

  /// The bytes before the data.
  var head: Data {
    var head = Data(
      """
      \(Self.mark) \(sequence) \(created.timeIntervalSince1970) \(updated.timeIntervalSince1970) \
      \(key.rawValue.utf8.count)\n
      """.utf8)
    head.append(contentsOf: key.rawValue.utf8)
    head.append(UInt8(ascii: "\n"))
    return head
  }

  /// Reads a file's bytes.
  ///
  /// - Throws: ``StoreError/unusableFile(path:message:)``.
  static func read(_ bytes: Data, path: String) throws(StoreError) -> (file: Self, data: Data) {
    let unusable = StoreError.unusableFile(
      path: path, message: "it does not begin as such a file does")
    guard let lineEnd = bytes.prefix(200).firstIndex(of: UInt8(ascii: "\n")) else { throw unusable }
    let words = String(decoding: bytes[bytes.startIndex..<lineEnd], as: UTF8.self)
      .split(separator: " ")
    guard words.count == 6, words[0...1].joined(separator: " ") == mark,
      let sequence = Int64(words[2]), let created = Double(words[3]),
      let updated = Double(words[4]), let length = Int(words[5]), length >= 0
    else { throw unusable }
    let keyStart = lineEnd + 1
    guard length < bytes.endIndex - keyStart, bytes[keyStart + length] == UInt8(ascii: "\n"),
      // (`String(data:encoding:)` takes a byte order mark away.)
      let key = String(validating: bytes[keyStart..<keyStart + length], as: UTF8.self)
    else { throw .unusableFile(path: path, message: "it is shorter than it says") }
    let file = Self(
      sequence: sequence, created: Date(timeIntervalSince1970: created),
      updated: Date(timeIntervalSince1970: updated), key: CacheKey(verbatim: key))
    return (file, Data(bytes[(keyStart + length + 1)...]))
  }

  // MARK: Names

  /// Returns the name of the file of a key: no two keys have the same, and each is one that Linux takes.
  ///
  /// Letters, digits, `-`, `_` and inner dots stand for themselves, other bytes as `%` and two digits. Of a long
  /// one the rest is a digest behind `%%`, which no other name contains.
  static func name(of key: CacheKey) -> String {
    let bytes = Array(key.rawValue.utf8)
    guard !bytes.isEmpty else { return "%" }
    var name = ""
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      // At the start it would hide the file among the engine's own.
      case UInt8(ascii: ".") where index > 0: name.append(".")
      default: name += "%" + hexadecimal([byte])
      }
      if name.utf8.count > 180 { return String(name.prefix(100)) + "%%" + digest(of: bytes) }
    }
    return name
  }

  /// 256 bits of BLAKE2b, in hexadecimal.
  private static func digest(of bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0)
    return hexadecimal(digest)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
