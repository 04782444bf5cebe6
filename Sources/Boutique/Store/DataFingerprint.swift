import Foundation

/// By which a store tells whether what lies under a key is what it has in memory already.
///
/// 64 bits of SipHash with a key of this process's: nobody can make two that are equal on purpose, and by
/// chance it does not happen.
struct DataFingerprint: Hashable, Sendable {
  private let value: Int

  init(_ data: Data) {
    var hasher = Hasher()
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(data.count)
    value = hasher.finalize()
  }
}
