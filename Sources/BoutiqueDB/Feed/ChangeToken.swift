/// A position in a database's change log.
///
/// Tokens of one file are ordered as its commits are, survive restarts, and never start again. The
/// generation tells one file from another: a token of a replaced file continues nothing.
public struct ChangeToken: Hashable, Sendable, Codable {
  /// Which file: a random text made with its change log.
  public let generation: String
  /// The number of the commit's last change.
  public let number: Int64

  /// Creates a token from its parts, as one that was stored elsewhere.
  public init(generation: String, number: Int64) {
    self.generation = generation
    self.number = number
  }
}

extension ChangeToken: LosslessStringConvertible {
  /// Creates a token from the text that ``description`` gives; nil for any other.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let number = Int64(parts[1]), number >= 0 else {
      return nil
    }
    self.init(generation: String(parts[0]), number: number)
  }

  /// The token as text: generation, a hyphen, number.
  public var description: String { "\(generation)-\(number)" }
}
