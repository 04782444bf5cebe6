import CSodium
import Foundation

/// Where the key of a storage's secure values comes from.
///
/// Unless it is told otherwise a storage keeps its key in a file of its own, made when the first secure
/// value is stored.
public struct SecureKeySource: Sendable {
  enum Kind: Sendable, Hashable {
    /// `isOurPlace`: in a directory that is made for keys alone.
    case file(path: String, isOurPlace: Bool)
    case environment(String)
    case credential(String)
    case given(GivenKeys)
    /// The place of the file could not be told, and why.
    case nowhere(SecureValueError)

    // Paths and names by their bytes.
    static func == (a: Kind, b: Kind) -> Bool {
      switch (a, b) {
      case (.file(let a, let isOurPlace), .file(let b, let isOthers)):
        a.hasBytes(of: b) && isOurPlace == isOthers
      case (.environment(let a), .environment(let b)), (.credential(let a), .credential(let b)):
        a.hasBytes(of: b)
      case (.given(let a), .given(let b)): a == b
      case (.nowhere(let a), .nowhere(let b)): a == b
      default: false
      }
    }

    func hash(into hasher: inout Hasher) {
      switch self {
      case .file(let text, _), .environment(let text), .credential(let text):
        text.hashBytes(into: &hasher)
      case .given(let keys): hasher.combine(keys)
      case .nowhere(let error): hasher.combine(error)
      }
    }
  }

  let kind: Kind

  /// A file of 32 bytes, of mode 0600, owned by this user or root, that is made when it is missing and
  /// nothing was sealed yet.
  ///
  /// Its directory is made with mode 0700 when it is missing; others must not be able to write to it. One
  /// key file belongs to one database: rotating the key of one would leave the other without.
  public static func file(_ path: String) -> SecureKeySource {
    SecureKeySource(kind: .file(path: FilePlace.resolveDirectory(of: path), isOurPlace: false))
  }

  /// An environment variable that holds the key as 64 hexadecimal digits or in base64.
  ///
  /// Several keys stand with commas between: the first seals, all open.
  public static func environment(_ variable: String) -> SecureKeySource {
    SecureKeySource(kind: .environment(variable))
  }

  /// A credential that systemd gives the service: the file of that name in `$CREDENTIALS_DIRECTORY`.
  ///
  /// It holds 32 bytes, or text as ``environment(_:)``.
  public static func systemdCredential(_ name: String) -> SecureKeySource {
    SecureKeySource(kind: .credential(name))
  }

  /// A key of 32 bytes that the program has from elsewhere.
  ///
  /// - Parameter previous: older keys, which open but do not seal.
  public static func bytes(_ key: [UInt8], previous: [[UInt8]] = []) -> SecureKeySource {
    SecureKeySource(kind: .given(GivenKeys([key] + previous)))
  }

  /// A key that lives as long as the process.
  static func ephemeral() -> SecureKeySource {
    SecureKeySource(kind: .given(GivenKeys(Result { [try SecretKey(SecretKey.random())] })))
  }

  // MARK: The usual places

  static func defaultFile(group: String, filename: String) -> SecureKeySource {
    // As the database's own place is checked: the key must not come to lie where the database cannot.
    ours { () throws(SecureValueError) in
      let place = "\(group)/keys/\(filename).key"
      guard group.isPlainName else {
        throw .keyFileUnusable(path: place, message: "a group is a plain name without slashes")
      }
      guard filename.isPlainName else {
        throw .keyFileUnusable(path: place, message: "a filename has no slashes")
      }
      return try BoutiqueDirectory.data() + "/" + place
    }
  }

  // A path is no file name; the end of it tells people which database is meant.
  static func defaultFile(database path: String) -> SecureKeySource {
    ours { () throws(SecureValueError) in
      let last = path.utf8.split(separator: UInt8(ascii: "/")).last
      let name = last.map { String(decoding: $0, as: UTF8.self) } ?? "settings"
      return try BoutiqueDirectory.data() + "/boutique-keys/\(name)-\(hash(path)).key"
    }
  }

  private static func ours(_ path: () throws(SecureValueError) -> String) -> SecureKeySource {
    do {
      return SecureKeySource(kind: .file(path: try path(), isOurPlace: true))
    } catch {
      return SecureKeySource(kind: .nowhere(error))
    }
  }

  private static func hash(_ path: String) -> String {
    let text = Array(path.utf8)
    var hash = [UInt8](repeating: 0, count: 16)
    crypto_generichash(&hash, hash.count, text, UInt64(text.count), nil, 0)
    return SecretKey.name(hash.prefix(8))
  }
}

/// Keys that the program was given, or why they cannot be used.
final class GivenKeys: Sendable, Hashable {
  let keys: Result<[SecretKey], any Error>

  init(_ keys: Result<[SecretKey], any Error>) { self.keys = keys }

  convenience init(_ keys: [[UInt8]]) {
    self.init(
      Result {
        try keys.map { key in
          guard key.count == SecretKey.length else {
            throw SecureValueError.keyNotGiven(
              source: "the bytes given", message: "a key has 32 bytes, not \(key.count)")
          }
          return try GivenKeyText.key(
            SecretBytes(count: key.count) { $0.copyBytes(from: key) }, "the bytes given")
        }
      })
  }

  static func == (a: GivenKeys, b: GivenKeys) -> Bool { a === b }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The directory that holds key files.
package enum BoutiqueDirectory {
  /// Returns `$XDG_DATA_HOME`, or what stands in for it: as for databases, the home directory of the user's
  /// entry where there is no `HOME`.
  package static func data(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecureValueError) -> String {
    if let value = environment["XDG_DATA_HOME"], value.hasPrefix("/") { return value }
    let home = environment["HOME"] ?? NSHomeDirectory()
    guard home.hasPrefix("/") else {
      throw SecureValueError.keyFileUnusable(
        path: "$HOME/.local/share", message: "HOME is not an absolute path")
    }
    return home + "/.local/share"
  }
}
