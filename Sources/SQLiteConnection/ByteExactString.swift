internal import Glibc

/// A text that equals another only if their bytes do, as SQLite compares names and statements.
///
/// Swift holds texts equal that Unicode does (é as one character or as two); for SQLite they name two
/// tables.
package struct ByteExactString: Hashable, Sendable {
  /// The text.
  package let string: String

  /// Wraps a text.
  package init(_ string: String) { self.string = string }

  /// Whether both have the same bytes.
  package static func == (a: ByteExactString, b: ByteExactString) -> Bool {
    let (a, b) = (a.string.utf8, b.string.utf8)
    let areEqual = a.withContiguousStorageIfAvailable { x in
      b.withContiguousStorageIfAvailable { y -> Bool in
        guard x.count == y.count else { return false }
        guard let xBytes = x.baseAddress, let yBytes = y.baseAddress else { return true }
        return memcmp(xBytes, yBytes, x.count) == 0
      }
    }
    return (areEqual ?? nil) ?? a.elementsEqual(b)
  }

  /// Feeds the bytes.
  package func hash(into hasher: inout Hasher) {
    let isFed: Void? = string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    // Bridged strings only; the bytes fed must be the same.
    if isFed == nil { Array(string.utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
  }
}
