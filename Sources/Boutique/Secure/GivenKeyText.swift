import Foundation
import Glibc

/// Keys that a program gets from its surroundings.
enum GivenKeyText {
  /// Returns the keys in an environment variable.
  static func environment(_ variable: String) throws -> [SecretKey] {
    let source = "the environment variable \(variable)"
    guard let value = getenv(variable) else {
      throw SecureValueError.keyNotGiven(source: source, message: "it is not set")
    }
    let length = strlen(value)
    return try keys(in: UnsafeRawBufferPointer(start: value, count: length), source)
  }

  /// Returns the keys in a credential of systemd's.
  static func credential(_ name: String) throws -> [SecretKey] {
    let source = "the systemd credential “\(name)”"
    guard let directory = getenv("CREDENTIALS_DIRECTORY") else {
      throw SecureValueError.keyNotGiven(
        source: source, message: "CREDENTIALS_DIRECTORY is not set; is LoadCredential= in the unit?"
      )
    }
    guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
      throw SecureValueError.keyNotGiven(source: source, message: "that is no name of a file")
    }
    let path = String(cString: directory) + "/" + name
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw SecureValueError.keyNotGiven(
        source: source, message: "\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var count = 0
    let content = try SecretBytes(count: 4096) { bytes in
      while count < bytes.count {
        let got = read(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { break }
        count += got
      }
    }
    return try content.withBytes {
      try keys(in: UnsafeRawBufferPointer(rebasing: $0.prefix(count)), source, mayBeBytes: true)
    }
  }

  /// Returns the keys in a text, or in bytes where the source may hold a key as it is.
  private static func keys(
    in text: UnsafeRawBufferPointer, _ source: String, mayBeBytes: Bool = false
  ) throws -> [SecretKey] {
    if mayBeBytes, text.count == SecretKey.length {
      return [try key(SecretBytes(count: text.count) { $0.copyMemory(from: text) }, source)]
    }
    let separators = Array(", \t\r\n".utf8)
    let keys = try text.split(whereSeparator: separators.contains).map { part -> SecretKey in
      let characters = Array(part)
      guard let bytes = hexadecimal(characters) ?? base64(characters) else {
        throw SecureValueError.keyNotGiven(
          source: source,
          message: "a key is 64 hexadecimal digits, or 32 bytes in base64; this is neither")
      }
      return try key(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }, source)
    }
    guard !keys.isEmpty else {
      throw SecureValueError.keyNotGiven(source: source, message: "it is empty")
    }
    return keys
  }

  /// Returns a key of bytes, unless they are what is there when nobody has put a key.
  static func key(_ bytes: SecretBytes, _ source: String) throws -> SecretKey {
    guard !bytes.withBytes({ $0.allSatisfy { $0 == 0 } }) else {
      throw SecureValueError.keyNotGiven(source: source, message: "all its bytes are zero")
    }
    return try SecretKey(bytes)
  }

  private static func hexadecimal(_ text: [UInt8]) -> [UInt8]? {
    guard text.count == 2 * SecretKey.length else { return nil }
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.count else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func base64(_ text: [UInt8]) -> [UInt8]? {
    guard let data = Data(base64Encoded: Data(text)), data.count == SecretKey.length else {
      return nil
    }
    return Array(data)
  }
}
