public import Foundation

/// What can go wrong with a stored value, beside what can go wrong with its database
/// (`BoutiqueError`) or its key (``SecureValueError``).
public enum StoredValueError: Error, Sendable, CustomStringConvertible, LocalizedError {
  /// What is stored under the key is of another type, or damaged; it stays as it is until `set` or
  /// `reset`.
  case undecodable(key: String, path: String, type: String, message: String)
  /// The value cannot be written as JSON; nothing was changed.
  case unencodable(key: String, path: String, type: String, message: String)
  /// Nothing could be read so far: the settings are in memory and still being opened.
  case notLoaded(key: String, path: String)
  /// The changes were not all written in the time given; they are still being tried.
  case flushTimedOut(path: String, unwritten: Int)

  /// What happened, to which value of which file, and what to do.
  public var description: String {
    switch self {
    case .undecodable(let key, let path, let type, let message):
      "the stored value “\(key)” of \(path) is no \(type): \(message); it is left as it is until it "
        + "is set or reset"
    case .unencodable(let key, let path, let type, let message):
      "the value for “\(key)” of \(path) was not stored: the \(type) cannot be written as JSON: "
        + message
    case .notLoaded(let key, let path):
      "the stored value “\(key)” of \(path) is not loaded yet; await load() first"
    case .flushTimedOut(let path, let unwritten):
      "\(unwritten) changes for \(path) were not written in the time given"
    }
  }

  /// The same text as ``description``.
  public var errorDescription: String? { description }
}
