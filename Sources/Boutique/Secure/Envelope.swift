import CSodium
import Foundation

// The form in which a secure value lies in its row.
//
//   byte   0      format version, 1
//          1…8    key id: which key sealed it
//          9…16   place: a name made of service, group and key with the key
//         17…40   nonce, random for each write
//         41…     XChaCha20-Poly1305 (IETF) of the padded JSON, 16 bytes of authentication at the end
//
// Invariants
//  1. Bound as associated data are the version, the key id, the place, and service, group and key
//     themselves, each with its length: what was sealed for one name opens under no other.
//  2. The place says the same, so that a row that was moved can be told from one that was changed.
//  3. The JSON is padded to blocks of 32 bytes (ISO/IEC 7816-4), so that the length does not tell true
//     from false.
//  4. A nonce is never chosen by anything but the system's random numbers; with 24 bytes they do not
//     repeat.
struct Envelope {
  static let version: UInt8 = 1
  private static let block = 32
  private static let nonceStart = 1 + 2 * SecretKey.tagLength
  private static let start = nonceStart + Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
  private static let tag = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

  /// Where it lies, in bytes that cannot be taken for those of another place.
  let names: [UInt8]
  /// The same for messages.
  let place: SecureValueError.Place

  init(service: String, group: String, key: String, path: String) {
    names = [service, group, key].flatMap { name in
      withUnsafeBytes(of: UInt32(clamping: name.utf8.count).littleEndian, Array.init)
        + Array(name.utf8)
    }
    place = SecureValueError.Place(path: path, service: service, group: group, key: key)
  }

  private func associated(_ head: some Sequence<UInt8>) -> [UInt8] {
    Array("boutique secret".utf8) + [0] + Array(head) + names
  }

  /// Seals the clear form.
  func seal(_ clear: Data, with key: SecretKey) throws -> [UInt8] {
    let head = [Self.version] + key.id + key.tag(of: names)
    let associated = associated(head)
    var sealed = [UInt8](
      repeating: 0, count: Self.start + clear.count + Self.block + Self.tag)
    let padded = try Self.padded(clear)
    var length: UInt64 = 0
    let outcome: Int32? = sealed.withUnsafeMutableBufferPointer { sealed in
      guard let out = sealed.baseAddress else { return nil }
      for (index, byte) in head.enumerated() { out[index] = byte }
      randombytes_buf(out + Self.nonceStart, Self.start - Self.nonceStart)
      return key.withSealingKey { sealingKey in
        padded.withUnsafeBytes { text in
          crypto_aead_xchacha20poly1305_ietf_encrypt(
            out + Self.start, &length, text.assumingMemoryBound(to: UInt8.self).baseAddress,
            UInt64(text.count), associated, UInt64(associated.count), nil, out + Self.nonceStart,
            sealingKey)
        }
      }
    }
    guard outcome == 0 else { throw SecureValueError.noMemory }
    sealed.removeLast(sealed.count - Self.start - Int(length))
    return sealed
  }

  private static func padded(_ clear: Data) throws -> Data {
    let count = (clear.count / block + 1) * block
    return try SecretMemory.data(count: count) { bytes in
      clear.withUnsafeBytes { from in
        if let start = from.baseAddress { bytes.copyMemory(from: start, byteCount: from.count) }
      }
      let rest = bytes + clear.count
      memset(rest, 0, count - clear.count)
      rest.storeBytes(of: 0x80, as: UInt8.self)
    }
  }

  /// Returns the id of the key that sealed an envelope.
  ///
  /// - Throws: when the form is not one that this program knows.
  func keyID(of sealed: [UInt8]) throws -> [UInt8] {
    guard let version = sealed.first else { throw SecureValueError.truncated(place, bytes: 0) }
    guard version == Self.version else {
      throw SecureValueError.unknownFormat(place, version: Int(version))
    }
    let text = sealed.count - Self.start - Self.tag
    guard text >= Self.block, text % Self.block == 0 else {
      throw SecureValueError.truncated(place, bytes: sealed.count)
    }
    return Array(sealed[1..<1 + SecretKey.tagLength])
  }

  /// Returns the clear form, in guarded memory.
  func open(_ sealed: [UInt8], with key: SecretKey) throws -> Data {
    guard Array(sealed[(1 + SecretKey.tagLength)..<Self.nonceStart]) == key.tag(of: names) else {
      throw SecureValueError.misplaced(place)
    }
    let associated = associated(sealed[0..<Self.nonceStart])
    let count = sealed.count - Self.start - Self.tag
    let data = try SecretMemory.data(count: count) { bytes in
      var length: UInt64 = 0
      let outcome: Int32? = sealed.withUnsafeBufferPointer { sealed in
        guard let from = sealed.baseAddress else { return nil }
        return key.withSealingKey { sealingKey in
          crypto_aead_xchacha20poly1305_ietf_decrypt(
            bytes.assumingMemoryBound(to: UInt8.self), &length, nil, from + Self.start,
            UInt64(sealed.count - Self.start), associated, UInt64(associated.count),
            from + Self.nonceStart, sealingKey)
        }
      }
      guard outcome == 0 else { throw SecureValueError.tampered(place) }
    }
    // What was authenticated was padded by us; anything else is no envelope of ours.
    guard let end = data.lastIndex(where: { $0 != 0 }), data[end] == 0x80 else {
      throw SecureValueError.tampered(place)
    }
    return try Self.withoutPadding(data, end - data.startIndex)
  }

  private static func withoutPadding(_ data: Data, _ count: Int) throws -> Data {
    try SecretMemory.data(count: count) { bytes in
      data.withUnsafeBytes { from in
        if let start = from.baseAddress { bytes.copyMemory(from: start, byteCount: count) }
      }
    }
  }
}
