public import Foundation

/// The name under which an engine keeps something.
///
/// Two keys are the same when their raw values have the same bytes: the engines here keep things by raw value,
/// so `CacheKey("a")` and `CacheKey(verbatim: "a")` name one thing, and two texts that only look the same
/// ("é" as one character or as two) name two.
public struct CacheKey: Sendable {
  /// The text that the key was made of.
  public let rawValue: String
  /// Whether ``value`` is the raw value itself.
  public let isVerbatim: Bool

  /// Creates a key whose ``value`` is made of a digest.
  public init(_ value: String) {
    rawValue = value
    isVerbatim = false
  }

  /// Creates a key whose ``value`` is the text itself.
  public init(verbatim value: String) {
    rawValue = value
    isVerbatim = true
  }

  /// Creates a key of a URL's text.
  public init(url: URL) { self.init(url.absoluteString) }

  /// A short name of fixed form: the MD5 digest of the raw value as a UUID is written; for a verbatim key
  /// the raw value.
  ///
  /// For programs that name files or rows of their own after it. It is no protection against anybody who
  /// chooses keys so that their digests are the same; the engines here do not rely on it.
  public var value: String { isVerbatim ? rawValue : MD5.digest(of: rawValue.utf8).asUUIDText }
}

extension CacheKey: Hashable {
  /// Whether the raw values have the same bytes.
  public static func == (a: CacheKey, b: CacheKey) -> Bool {
    a.rawValue.hasBytes(of: b.rawValue)
  }

  /// Feeds the bytes of the raw value into the hasher.
  public func hash(into hasher: inout Hasher) {
    rawValue.hashBytes(into: &hasher)
  }
}

extension CacheKey: Codable {
  /// Creates a key from its raw value.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the raw value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

extension CacheKey: ExpressibleByStringLiteral {
  /// Creates a key as ``init(_:)`` does.
  public init(stringLiteral value: String) { self.init(value) }
}

extension CacheKey: CustomStringConvertible {
  /// The raw value.
  public var description: String { rawValue }
}

extension [UInt8] {
  /// Sixteen bytes in upper-case hexadecimal, with hyphens where a UUID has them.
  fileprivate var asUUIDText: String {
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
