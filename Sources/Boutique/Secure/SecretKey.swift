import CSodium

/// A key, and the two that are made from it: one that seals, one that makes names.
final class SecretKey: Sendable {
  static let length = 32

  /// The name under which envelopes know the key; tells nothing about it.
  let id: [UInt8]
  /// The key itself, then the one that seals, then the one that names.
  private let bytes: SecretBytes

  /// Takes a key of 32 bytes.
  init(_ key: SecretBytes) throws {
    bytes = try SecretBytes(count: 3 * Self.length) { all in
      key.withBytes {
        all.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(Self.length)))
      }
      guard let start = all.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
      for number in 1...2 {
        crypto_kdf_derive_from_key(
          start + number * Self.length, Self.length, UInt64(number), "boutique", start)
      }
    }
    var id: [UInt8] = []
    bytes.withBytes { id = Self.hash(Array("key".utf8), with: $0) }
    self.id = id
  }

  /// Returns a new random key.
  static func random() throws -> SecretBytes {
    try SecretBytes(count: length) { try SecretMemory.randomize($0) }
  }

  /// The id as text.
  var name: String { Self.name(id) }

  static func name(_ id: some Sequence<UInt8>) -> String {
    id.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// Calls a closure with the key as it is kept in a file.
  func withKey<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withBytes { try body(UnsafeRawBufferPointer(rebasing: $0.prefix(Self.length))) }
  }

  /// Calls a closure with the key that seals.
  func withSealingKey<R>(_ body: (UnsafePointer<UInt8>) throws -> R) rethrows -> R? {
    try bytes.withBytes { all in
      try all.baseAddress.map {
        try body($0.assumingMemoryBound(to: UInt8.self) + Self.length)
      }
    }
  }

  /// Returns the name that a place has under this key.
  func tag(of place: [UInt8]) -> [UInt8] {
    bytes.withBytes { Self.hash(Array("place".utf8) + place, with: $0) }
  }

  /// How many bytes a name has.
  static let tagLength = 8

  private static func hash(_ text: [UInt8], with all: UnsafeRawBufferPointer) -> [UInt8] {
    // BLAKE2b gives 16 bytes at least.
    var hash = [UInt8](repeating: 0, count: 16)
    if let start = all.baseAddress?.assumingMemoryBound(to: UInt8.self) {
      crypto_generichash(
        &hash, hash.count, text, UInt64(text.count), start + 2 * length, length)
    }
    return Array(hash.prefix(tagLength))
  }
}
