import BoutiqueDB

/// A path below the tree's root, as the bytes the kernel knows it by.
///
/// Names on Linux are bytes: any but `/` and NUL. Comparing them as Swift strings would be wrong, since
/// those are equal when they look the same (é as one scalar or two).
struct FilePath: Hashable, Sendable, Codable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Takes back a stored path; nil for a value that is none.
  init?(_ value: SQLValue) {
    switch value {
    case .text(let text): bytes = Array(text.utf8)
    case .blob(let blob): bytes = blob
    default: return nil
    }
  }

  /// Text where the bytes are valid UTF-8, a blob where they are not.
  var sqlValue: SQLValue {
    if let text = String(validating: bytes, as: UTF8.self) { .text(text) } else { .blob(bytes) }
  }

  /// For messages; bytes that are no text show as the replacement character.
  var shown: String { String(decoding: bytes, as: UTF8.self) }
}
