public import Foundation

/// What can go wrong with a secure value or its key.
///
/// No text of it holds a secret. Switch with a `default`: cases may be added.
public enum SecureValueError: Error, Sendable, Hashable {
  /// Which value of which database.
  public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The database.
    public var path: String
    /// The service; empty for none.
    public var service: String
    /// The group; empty for none.
    public var group: String
    /// The key that names the value.
    public var key: String

    /// Creates a description of a place.
    public init(path: String, service: String, group: String, key: String) {
      self.path = path
      self.service = service
      self.group = group
      self.key = key
    }

    /// The value's names and its file.
    public var description: String {
      var text = "the secure value “\(key)”"
      if !service.isEmpty { text += " of service “\(service)”" }
      if !group.isEmpty { text += " and group “\(group)”" }
      return text + " in \(path)"
    }
  }

  // What is stored

  /// The value was sealed with a key that this program has not; both as they are named in the envelope.
  case wrongKey(Place, sealedWith: String, known: [String])
  /// The bytes are not those that were sealed: changed, or made without the key.
  case tampered(Place)
  /// The value was sealed for another name, and moved or copied here.
  case misplaced(Place)
  /// Bytes are missing.
  case truncated(Place, bytes: Int)
  /// The envelope is of a format that this program does not know.
  case unknownFormat(Place, version: Int)
  /// There is no value to change a part of.
  case nothingStored(Place)

  // The key

  /// Secure values are stored, but there is no key file; none is made, since it could not open them.
  case keyMissing(path: String)
  /// The key file is empty, too short, too long or all zero.
  case keyFileDamaged(path: String, bytes: Int)
  /// Others may read the key file, or put another in its place.
  case permissionsTooOpen(path: String, message: String)
  /// The key file, or its directory, cannot be used; `message` says what the system said.
  case keyFileUnusable(path: String, message: String)
  /// The program was not given a usable key.
  case keyNotGiven(source: String, message: String)
  /// The system has no memory for a key.
  case noMemory
}

extension SecureValueError: CustomStringConvertible, LocalizedError {
  /// What happened, to which value or file, and what to do.
  public var description: String {
    switch self {
    case .wrongKey(let place, let sealed, let known):
      "\(place) was sealed with the key \(sealed), and this program has "
        + (known.isEmpty ? "none" : "only " + known.joined(separator: ", "))
        + "; restore that key, or set or remove the value"
    case .tampered(let place):
      "\(place) is not what was sealed: it was changed, or made without the key; set or remove it"
    case .misplaced(let place):
      "\(place) was sealed for another name, and moved or copied here; set or remove it"
    case .truncated(let place, let bytes):
      "\(place) is cut short: \(bytes) bytes are left; set or remove it"
    case .unknownFormat(let place, let version):
      "\(place) is of format \(version), which this program does not know; update this program"
    case .nothingStored(let place):
      "there is no part to change in \(place): nothing is stored"
    case .keyMissing(let path):
      "the key file \(path) is missing, but values are stored that were sealed with it; restore it "
        + "from a backup, or remove the values"
    case .keyFileDamaged(let path, let bytes):
      "the key file \(path) is damaged: it has \(bytes) bytes that are no key; restore it from a "
        + "backup (it is never replaced)"
    case .permissionsTooOpen(let path, let message):
      "\(path) is open to others: \(message)"
    case .keyFileUnusable(let path, let message):
      "the key file \(path) cannot be used: \(message)"
    case .keyNotGiven(let source, let message):
      "there is no key in \(source): \(message)"
    case .noMemory: "there is no memory for a key"
    }
  }

  /// The same text as ``description``.
  public var errorDescription: String? { description }
}
